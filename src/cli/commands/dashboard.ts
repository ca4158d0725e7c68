import { defineCommand, JSON_OPTION } from "../command.ts";
import { withGateway } from "../gateway-call.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle } from "../output/style.ts";

/** The platform's way to open an address; undefined where nobody would see it. */
function opener(io: Io): readonly [string, ...string[]] | undefined {
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return io.env["DISPLAY"] || io.env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}

async function openPage(io: Io, url: string): Promise<boolean> {
  const command = opener(io);
  if (!command) return false;
  const { run } = await import("../../base/spawn.ts");
  const [program, ...args] = command;
  try {
    const { code } = await run(program, { args: [...args, url], env: io.env, timeoutMs: 10_000, maxOutputBytes: 65_536 });
    return code === 0;
  } catch {
    return false;
  }
}

/** A link to the control page that logs one browser in, once. The code stands behind `#`: browsers keep that part to themselves. */
function loginLink(io: Io): Promise<{ readonly url: string; readonly port: string; readonly expiresAt: number }> {
  return withGateway(io, {}, async (client, target) => {
    const { path, expiresAt } = await client.request("login.code", {});
    const { href, port } = new URL(path, target.url.replace(/^ws/, "http"));
    return { url: href, port, expiresAt };
  });
}

export const dashboard = defineCommand({
  options: { "no-open": { type: "boolean", help: "only print the link" }, json: JSON_OPTION },
  examples: [{ line: "openclaw dashboard --no-open", does: "a login link: it lets one browser in, once, within ten minutes" }],
  async run({ io, values }) {
    const { url, port, expiresAt } = await loginLink(io);
    const opened = !values["no-open"] && (await openPage(io, url));
    if (values.json) return printJson(io, { url, opened, expiresAt });
    io.out(`${url}\n`);
    const style = createStyle(io.color);
    if (opened) io.err(style.dim("opened in the browser; the link works once\n"));
    else io.err(style.dim(`the link works once, for 10 minutes; from another machine: ssh -N -L ${port}:127.0.0.1:${port} user@host, then open it there\n`));
  },
});
