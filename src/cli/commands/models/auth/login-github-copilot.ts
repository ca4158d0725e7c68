import { defineCommand } from "../../../command.ts";
import { ownLogin } from "./own-login.ts";
import { save } from "./save.ts";
import { AGENT_OPTION, openAuth, profileIdOf } from "./source.ts";

const PROVIDER = "github-copilot";

export const loginGithubCopilot = defineCommand({
  options: {
    "profile-id": { type: "string", value: "id", help: "its name (default github-copilot:github)" },
    yes: { type: "boolean", help: "replace a stored login without asking" },
    "client-id": { type: "string", value: "id", help: "the OAuth app you registered at GitHub" },
    "token-url": { type: "string", value: "url", help: "token endpoint of a GitHub of your own" },
    "device-url": { type: "string", value: "url", help: "device code endpoint of a GitHub of your own" },
    agent: AGENT_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const id = profileIdOf(PROVIDER, values["profile-id"], "github");
    const stored = (await view.auth.list()).some((profile) => profile.id === id);
    if (stored && !values.yes && !(await io.confirm(`${id} is stored already. Replace it?`))) {
      io.err(`${id} stays as it is; --yes replaces it\n`);
      return;
    }
    const given = { clientId: values["client-id"], tokenUrl: values["token-url"], deviceUrl: values["device-url"] };
    const { access } = await ownLogin(io, view, { provider: PROVIDER, method: "device", ...given });
    await save(io, view, id, { type: "token", provider: PROVIDER, token: access });
  },
});
