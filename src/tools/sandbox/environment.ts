type Env = Readonly<Record<string, string>>;

const SECRET_NAME = /(?:API_?KEY|TOKEN|PASSWORD|PASSWD|PRIVATE_KEY|SECRET|ACCESS_KEY|CREDENTIALS?)$/i;
/** Names that say nothing of the kind and hold keys all the same. */
const SECRETS = new Set(["AWS_ACCESS_KEY_ID", "DATABASE_URL", "REDIS_URL", "SSH_AUTH_SOCK", "GPG_AGENT_INFO"]);
const LONG_CHARS = 32_768;
const ENCODED = /^[A-Za-z0-9+/=_-]{80,}$/;

/** The configured variables without those that look like secrets; `warn` gets which were left out and which look odd. */
export function insideEnvironment(env: Env, warn: (text: string) => void): Env {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (SECRET_NAME.test(name) || SECRETS.has(name.toUpperCase())) warn(`the variable ${name} looks like a secret and does not enter the sandbox`);
    else if (value.includes("\0")) warn(`the variable ${name} has a null character and does not enter the sandbox`);
    else {
      if (value.length > LONG_CHARS) warn(`the variable ${name} is longer than ${LONG_CHARS} characters`);
      else if (ENCODED.test(value)) warn(`the variable ${name} looks like an encoded secret`);
      kept[name] = value;
    }
  }
  return kept;
}
