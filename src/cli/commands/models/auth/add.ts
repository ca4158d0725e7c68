import { ask } from "../../../ask.ts";
import { defineCommand } from "../../../command.ts";
import { save } from "./save.ts";
import { AGENT_OPTION, openAuth, profileIdOf, providerOf, warnAboutUnknown } from "./source.ts";

export const add = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "whose key it is; asked for when not given" },
    "profile-id": { type: "string", value: "id", help: "its name (default <provider>:default)" },
    agent: AGENT_OPTION,
  },
  examples: [{ line: "openclaw models auth add --provider openai < key.txt", does: "the key from a file; on a terminal it is asked for and not shown" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const asked = values.provider ?? (io.interactive ? await ask(io, { text: "Provider: ", expected: "the name of a provider" }) : undefined);
    const provider = providerOf(view, asked);
    warnAboutUnknown(io, view, provider);
    const id = profileIdOf(provider, values["profile-id"], "default");
    const key = await ask(io, { text: `API key of ${provider}: `, secret: true, expected: `the API key of ${provider}` });
    view.redactor.register(key);
    await save(io, view, id, { type: "api_key", provider, key });
  },
});
