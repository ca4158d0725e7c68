import { defineCommand, JSON_OPTION } from "../command.ts";
import { localTarget, openForReading, secretAt } from "../gateway-target.ts";
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

/** The control page's address, with the token behind `#`: browsers keep that part to themselves. */
async function pageAddress(io: Io): Promise<{ readonly url: string; readonly port: string }> {
  using config = await openForReading(io);
  const { url } = await localTarget(io, config);
  const { auth, controlUi } = config.current.gateway ?? {};
  const page = new URL(`/${controlUi?.basePath?.replace(/^\/+|\/+$/g, "") ?? ""}`, url.replace(/^ws/, "http"));
  const token = (await secretAt(config, auth?.token, "gateway.auth.token")) ?? io.env["OPENCLAW_GATEWAY_TOKEN"]?.trim();
  if (token && (auth?.mode ?? "token") === "token") page.hash = `token=${encodeURIComponent(token)}`;
  return { url: page.href, port: page.port };
}

export const dashboard = defineCommand({
  options: { "no-open": { type: "boolean", help: "only print the address" }, json: JSON_OPTION },
  examples: [{ line: "openclaw dashboard --no-open", does: "the address, with the token in it: whoever has it gets in" }],
  async run({ io, values }) {
    const { url, port } = await pageAddress(io);
    const opened = !values["no-open"] && (await openPage(io, url));
    if (values.json) return printJson(io, { url, opened });
    io.out(`${url}\n`);
    const style = createStyle(io.color);
    if (opened) io.err(style.dim("opened in the browser\n"));
    else io.err(style.dim(`from another machine: ssh -N -L ${port}:127.0.0.1:${port} user@host, then open the address there\n`));
  },
});
