/**
 * Makes `docs/protocol.md` and `dist/protocol.schema.json` from the declarations in `src/protocol`. With `--check` it writes nothing and fails
 * when the page is stale.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { protocolPage } from "./protocol/page.ts";
import { protocolSchema } from "./protocol/schema.ts";

const PAGE = new URL("../docs/protocol.md", import.meta.url);
const SCHEMA = new URL("../dist/protocol.schema.json", import.meta.url);

const page = protocolPage();
if (process.argv.includes("--check")) {
  if (!existsSync(PAGE) || readFileSync(PAGE, "utf8") !== page) {
    console.error("docs/protocol.md does not say what src/protocol declares: run node scripts/protocol-export.ts");
    process.exitCode = 1;
  }
} else {
  mkdirSync(new URL(".", SCHEMA), { recursive: true });
  writeFileSync(SCHEMA, `${JSON.stringify(protocolSchema(), undefined, 2)}\n`);
  writeFileSync(PAGE, page);
}
