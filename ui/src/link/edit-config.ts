import type { MethodParams } from "openclaw/client";
import type { Link } from "./link.ts";

/** Values to be set and taken out. */
export type ConfigEdit = Pick<MethodParams<"config.edit">, "set" | "unset">;

/**
 * Changes values of the configuration file and nothing else in it: what `change` makes of the configuration as it is now. Rejects when the file changed
 * meanwhile, or would not be valid.
 */
export async function editConfig(link: Pick<Link, "request">, change: (config: unknown) => ConfigEdit): Promise<void> {
  const { hash, config } = await link.request("config.get", {});
  const { raw } = await link.request("config.edit", change(config));
  const { valid, issues, reload } = await link.request("config.check", { raw });
  const [issue] = issues;
  if (!valid && issue) throw new Error(`${issue.path}: ${issue.message}`);
  const params = { raw, ...(hash === undefined ? {} : { baseHash: hash }) };
  if (reload.kind === "restart") await link.request("config.apply", params);
  else await link.request("config.set", params);
}
