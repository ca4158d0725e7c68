import { basename } from "node:path";
import { withheldNames } from "../../base/inherited-environment.ts";
import type { ExecPlan } from "./plan.ts";

/** Variables that programs look for when they cannot log in; upper case, `*` stands for any rest. */
const WANTED: Readonly<Record<string, string>> = {
  gh: "GH_TOKEN GITHUB_TOKEN GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN GH_HOST",
  git: "GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN GIT_ASKPASS SSH_ASKPASS",
  glab: "GITLAB_TOKEN GITLAB_ACCESS_TOKEN",
  hub: "GITHUB_TOKEN",
  aws: "AWS_*",
  sam: "AWS_*",
  cdk: "AWS_*",
  terraform: "AWS_* TF_* ARM_* GOOGLE_* CLOUDFLARE_*",
  tofu: "AWS_* TF_* ARM_* GOOGLE_* CLOUDFLARE_*",
  pulumi: "PULUMI_* AWS_* ARM_* GOOGLE_*",
  gcloud: "GOOGLE_* CLOUDSDK_*",
  gsutil: "GOOGLE_* CLOUDSDK_* BOTO_*",
  az: "AZURE_* ARM_*",
  doctl: "DIGITALOCEAN_*",
  hcloud: "HCLOUD_*",
  flyctl: "FLY_*",
  fly: "FLY_*",
  vercel: "VERCEL_*",
  netlify: "NETLIFY_*",
  wrangler: "CLOUDFLARE_* CF_*",
  heroku: "HEROKU_*",
  npm: "NPM_TOKEN NODE_AUTH_TOKEN NPM_CONFIG_*",
  pnpm: "NPM_TOKEN NODE_AUTH_TOKEN NPM_CONFIG_*",
  yarn: "NPM_TOKEN NODE_AUTH_TOKEN YARN_*",
  twine: "TWINE_*",
  cargo: "CARGO_REGISTRY_TOKEN CARGO_REGISTRIES_*",
  docker: "DOCKER_*",
  kubectl: "KUBE*",
  helm: "HELM_* KUBE*",
  psql: "PG* DATABASE_URL",
  mysql: "MYSQL_* DATABASE_URL",
  "redis-cli": "REDIS*",
  vault: "VAULT_*",
  op: "OP_*",
  stripe: "STRIPE_*",
  "sentry-cli": "SENTRY_*",
  rclone: "RCLONE_*",
  restic: "RESTIC_* AWS_* B2_*",
  "huggingface-cli": "HF_* HUGGING_FACE_*",
  hf: "HF_* HUGGING_FACE_*",
};

const MOST_NAMED = 6;
const MOST_SESSIONS = 1000;

/** Says, once for each session and set of variables, that a failed command may have missed what the gateway keeps to itself. */
export interface WithheldHints {
  hint(sessionKey: string, plan: Pick<ExecPlan, "segments" | "command" | "env">, output: string): string | undefined;
}

export function createWithheldHints(env: Readonly<Record<string, string | undefined>>, passEnv: (sessionKey: string) => readonly string[]): WithheldHints {
  const said = new Map<string, Set<string>>();

  function missed(sessionKey: string, plan: Pick<ExecPlan, "segments" | "command" | "env">, output: string): readonly string[] {
    const programs = plan.segments.length > 0 ? plan.segments.map(({ argv }) => argv[0]) : [plan.command.trim().split(/\s+/)[0] ?? ""];
    const wanted = programs.flatMap((program) => (WANTED[basename(program)] ?? "").split(" ").filter((name) => name !== ""));
    const isWanted = (name: string): boolean => wanted.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
    const isNamed = (name: string): boolean => name.length > 3 && new RegExp(`\\b${name.replaceAll(/\W/g, "\\$&")}\\b`).test(output);
    return withheldNames(env, passEnv(sessionKey)).filter((name) => !Object.hasOwn(plan.env, name) && (isWanted(name.toUpperCase()) || isNamed(name)));
  }

  return {
    hint(sessionKey, plan, output) {
      const names = missed(sessionKey, plan, output).slice(0, MOST_NAMED);
      const known = said.get(sessionKey) ?? new Set<string>();
      const fresh = names.filter((name) => !known.has(name));
      if (fresh.length === 0) return undefined;
      if (said.size >= MOST_SESSIONS) said.clear();
      said.set(sessionKey, new Set([...known, ...fresh]));
      const list = fresh.map((name) => JSON.stringify(name)).join(", ");
      return `Note: commands do not inherit ${fresh.join(", ")} from the gateway's environment. If this command needs it, the operator can set tools.exec.passEnv: [${list}].`;
    },
  };
}
