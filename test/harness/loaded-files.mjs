// Writes the address of every module that a process loads to a file: given to gateways of tests with --import, never part of the product.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

const file = process.env.OPENCLAW_TEST_LOADED;

registerHooks({
  load(url, context, next) {
    appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
