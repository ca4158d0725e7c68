import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Stands in the fake page, so that it is known again. */
export const FAKE_PAGE = "the control page of this test";

/** A folder as the build of the Control UI leaves it, with next to nothing in it. */
export function makeFakeUi(): Disposable & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), "fake-ui-"));
  mkdirSync(join(root, "assets"));
  writeFileSync(
    join(root, "index.html"),
    `<!doctype html><html lang="en"><head><base href="./"><script type="module" src="./assets/main-00000000.js"></script></head><body>${FAKE_PAGE}</body></html>`,
  );
  writeFileSync(join(root, "assets", "main-00000000.js"), "export {};\n");
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}
