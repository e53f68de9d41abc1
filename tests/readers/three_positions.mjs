// Prints where three.js has the nodes of a GLB file: {name: [[x, y, z] per time]}.
// Arguments: FILE CLIP_INDEX (-1: none) TIME...
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

globalThis.self = globalThis;
const three = path.join(process.env.IKVIEWER_NODE, "node_modules", "three");
const THREE = await import(pathToFileURL(path.join(three, "build", "three.module.js")));
const { GLTFLoader } = await import(pathToFileURL(path.join(three, "examples", "jsm", "loaders", "GLTFLoader.js")));

const [file, clip, ...times] = process.argv.slice(2);
const bytes = fs.readFileSync(file);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const gltf = await new GLTFLoader().parseAsync(buffer, "");
const nodes = gltf.parser.json.nodes;
const objects = await Promise.all(nodes.map((_, index) => gltf.parser.getDependency("node", index)));
const mixer = new THREE.AnimationMixer(gltf.scene);
if (Number(clip) >= 0) {
  const action = mixer.clipAction(gltf.animations[Number(clip)]);
  action.setLoop(THREE.LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
}
const places = Object.fromEntries(nodes.map((node) => [node.name, []]));
for (const time of times.length ? times : [0]) {
  mixer.setTime(Number(time));
  gltf.scene.updateMatrixWorld(true);
  objects.forEach((object, index) => {
    const place = new THREE.Vector3().setFromMatrixPosition(object.matrixWorld);
    places[nodes[index].name].push([place.x, place.y, place.z]);
  });
}
console.log(JSON.stringify(places));
