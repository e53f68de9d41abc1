// Prints where three.js has every vertex of a glTF file's meshes: {name of the node: [[x, y, z, x, y, z, ...] per time]}.
// Arguments: FILE CLIP_INDEX (-1: none) TIME...
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

globalThis.self = globalThis;
globalThis.ProgressEvent = class extends Event {};
const three = path.join(process.env.IKVIEWER_NODE, "node_modules", "three");
const THREE = await import(pathToFileURL(path.join(three, "build", "three.module.js")));
const { GLTFLoader } = await import(pathToFileURL(path.join(three, "examples", "jsm", "loaders", "GLTFLoader.js")));

const [file, clip, ...times] = process.argv.slice(2);
const bytes = fs.readFileSync(file);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const loader = new GLTFLoader();
// Pictures need a browser, and move no vertex.
loader.register((parser) => ({ name: "no pictures", loadTexture: () => Promise.resolve(new THREE.Texture()) }));
const folder = path.dirname(path.resolve(file));
THREE.DefaultLoadingManager.setURLModifier((url) => {
  if (url.startsWith("data:") || url.startsWith("blob:")) return url;
  return "data:application/octet-stream;base64," + fs.readFileSync(path.join(folder, url)).toString("base64");
});
const gltf = await loader.parseAsync(buffer, "");
const mixer = new THREE.AnimationMixer(gltf.scene);
if (Number(clip) >= 0) {
  const action = mixer.clipAction(gltf.animations[Number(clip)]);
  action.setLoop(THREE.LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
}
const found = {};
for (const time of times.length ? times : [0]) {
  if (Number(clip) >= 0) mixer.setTime(Number(time));
  // Files round rotations; three.js takes what is left of their length for a scale.
  gltf.scene.traverse((object) => object.quaternion.normalize());
  gltf.scene.updateMatrixWorld(true);
  gltf.scene.traverse((object) => {
    if (!object.isMesh) return;
    const place = new THREE.Vector3();
    const places = [];
    for (let i = 0; i < object.geometry.attributes.position.count; i++) {
      object.getVertexPosition(i, place);
      place.applyMatrix4(object.matrixWorld);
      places.push(place.x, place.y, place.z);
    }
    (found[object.name] ||= []).push(places);
  });
}
console.log(JSON.stringify(found));
