"use strict";
// Runs a plugin's tests with node:test, on a Node that can run the host: this one, or the checkout's own. Called from a plugin's folder by its `npm test`.
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { MINIMUM, pinnedNode, currentIsEnough } = require("./runtime.cjs");

const node = currentIsEnough() ? process.execPath : pinnedNode();
if (!node) {
  process.stderr.write(`Node ${MINIMUM} or newer is needed to run this plugin's tests, this is ${process.version}\n`);
  process.exit(1);
}
if (!fs.existsSync(path.join(__dirname, "..", "dist", "plugin-sdk", "testing.js"))) {
  process.stderr.write(`openclaw is not built: run npm run build in ${path.resolve(__dirname, "..")}\n`);
  process.exit(1);
}
const given = process.argv.slice(2);
const child = spawn(node, ["--test", ...(given.length > 0 ? given : ["test/**/*.test.{js,mjs,cjs,ts,mts}"])], { stdio: "inherit" });
child.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 1 : code));
