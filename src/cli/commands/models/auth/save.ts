import type { AuthProfileCredential } from "../../../../protocol/index.ts";
import { maskSecret } from "../../../../base/redaction.ts";
import { editConfig } from "../../../config-edit.ts";
import type { Io } from "../../../io.ts";
import type { AuthView } from "./source.ts";

function secretOf(credential: AuthProfileCredential): string {
  if (credential.type === "api_key") return credential.key ?? "";
  return credential.type === "token" ? credential.token : credential.access;
}

/** Stores a credential, names it in the configuration, and says what that means for the order. The secret is shown masked. */
export async function save(io: Io, view: AuthView, id: string, credential: AuthProfileCredential): Promise<void> {
  const { auth, config, canonical } = view;
  const secret = secretOf(credential);
  view.redactor.register(secret);
  const replaced = (await auth.list()).some((profile) => profile.id === id);
  await auth.add(id, credential);
  const { provider, type, email } = credential;
  await editConfig(io, { kind: "set", path: ["auth", "profiles", id], value: { provider, mode: type, ...(email ? { email } : {}) } }, "cli models auth");
  io.out(`${replaced ? "replaced" : "stored"} ${id} (${type}, ${maskSecret(secret)}) in ${auth.storePath}\n`);
  const own = await auth.order(provider);
  const configured = Object.entries(config.auth?.order ?? {}).find(([name]) => canonical(name) === provider)?.[1];
  const order = own ?? configured;
  if (order && !order.includes(id)) {
    const where = own ? `openclaw models auth order set --provider ${provider} ${[...order, id].join(" ")}` : `add it to auth.order.${provider}`;
    io.err(`it is not used yet: the order of ${provider} does not name it; ${where}\n`);
  }
}
