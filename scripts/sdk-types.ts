/** Puts the declarations of `openclaw/plugin-sdk` into `dist/types`, for plugin authors. */
import { fileURLToPath } from "node:url";
import { emitDeclarations } from "./sdk/declarations.ts";

emitDeclarations(fileURLToPath(new URL("../dist/types", import.meta.url)));
