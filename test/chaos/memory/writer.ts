/** Indexes notes that it changes all the time, until it is killed. `node writer.ts <folder>`: prints a line when the first round is indexed. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noteText, openNotes, runSteps } from "./notes.ts";

const [folder = "", from = "0"] = process.argv.slice(2);
const library = openNotes(folder);
const NOTES = 40;

for (let round = Number(from); ; round += 1) {
  for (let n = 0; n < 6; n += 1) {
    const name = (round * 7 + n * 5) % NOTES;
    const file = join(folder, "workspace", "memory", `note-${name}.md`);
    if ((round + n) % 3 === 0) rmSync(file, { force: true });
    else writeFileSync(file, noteText(name, round));
  }
  runSteps(library.sync(round % 11 === 10 ? { rebuild: true } : {}));
  process.stdout.write(`${round}\n`);
}
