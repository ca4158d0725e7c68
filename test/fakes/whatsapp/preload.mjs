// Makes baileys trust the Noise root of the fake: given with --import to processes of tests, never part of the product.
import { registerHooks } from "node:module";

const root = process.env.OPENCLAW_TEST_WHATSAPP_ROOT;
const REAL = /PUBLIC_KEY: Buffer\.from\('[\da-f]{64}', 'hex'\)/;

if (root) {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith("/baileys/lib/Defaults/index.js")) return loaded;
      const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      if (!REAL.test(source)) throw new Error(`the root certificate is not where the preload looks for it in ${url}`);
      return { ...loaded, source: source.replace(REAL, `PUBLIC_KEY: Buffer.from('${root}', 'hex')`) };
    },
  });
}
