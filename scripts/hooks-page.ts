/** Makes `docs/plugins/hooks.md` from the catalog and the types in `src/hooks`. With `--check` it writes nothing and fails when the page is stale. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hooksPage } from "./hooks/page.ts";

const PAGE = new URL("../docs/plugins/hooks.md", import.meta.url);

const page = hooksPage();
if (process.argv.includes("--check")) {
  if (!existsSync(PAGE) || readFileSync(PAGE, "utf8") !== page) {
    console.error("docs/plugins/hooks.md does not say what src/hooks declares: run node scripts/hooks-page.ts");
    process.exitCode = 1;
  }
} else {
  mkdirSync(new URL(".", PAGE), { recursive: true });
  writeFileSync(PAGE, page);
}
