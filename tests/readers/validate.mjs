// Prints Khronos' verdict on glTF files: one JSON list of {errors, warnings, messages}.
import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.IKVIEWER_NODE + "/");
const validator = require("gltf-validator");

const verdicts = [];
for (const file of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), { maxIssues: 20 });
  verdicts.push({
    errors: report.issues.numErrors,
    warnings: report.issues.numWarnings,
    messages: report.issues.messages.filter((message) => message.severity < 2),
  });
}
console.log(JSON.stringify(verdicts));
