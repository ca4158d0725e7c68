import { defineCommand, JSON_OPTION } from "../command.ts";
import { withGateway } from "../gateway-call.ts";
import { printJson, type Io } from "../io.ts";
import { openBrowser } from "../open-browser.ts";
import { createStyle } from "../output/style.ts";

/** A link to the control page that logs one browser in, once. The code stands behind `#`: browsers keep that part to themselves. */
function loginLink(io: Io): Promise<{ readonly url: string; readonly port: string; readonly expiresAt: number }> {
  return withGateway(io, {}, async (client, target) => {
    const { path, expiresAt } = await client.request("login.code", {});
    const { href, port } = new URL(path, target.url.replace(/^ws/, "http"));
    return { url: href, port, expiresAt };
  });
}

export const dashboard = defineCommand({
  options: { "no-open": { type: "boolean", help: "Print the link without opening a browser" }, json: JSON_OPTION },
  examples: [{ line: "openclaw dashboard --no-open", does: "Print a login link; it works once, within 10 minutes" }],
  async run({ io, values }) {
    const { url, port, expiresAt } = await loginLink(io);
    const opened = !values["no-open"] && (await openBrowser(io.env, url));
    if (values.json) return printJson(io, { url, opened, expiresAt });
    io.out(`${url}\n`);
    const style = createStyle(io.color);
    if (opened) io.err(style.dim("Opened in your browser. The link works once\n"));
    else io.err(style.dim(`The link works once, within 10 minutes. From another machine, first run: ssh -N -L ${port}:127.0.0.1:${port} user@host\n`));
  },
});
