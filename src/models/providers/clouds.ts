import { ANTHROPIC_MESSAGES, OPENAI_COMPLETIONS, OPENAI_RESPONSES, type ProviderFacts } from "./provider.ts";

/** Models inside other products: their wire formats come with a package that is installed when needed, except where ours will do. */
export const CLOUDS: readonly ProviderFacts[] = [
  {
    id: "google-vertex",
    env: ["GOOGLE_APPLICATION_CREDENTIALS"],
    baseUrl: "https://{location}-aiplatform.googleapis.com",
    api: "google-vertex",
    presence: "catalog",
    ambient: true,
    note: "needs GOOGLE_CLOUD_PROJECT (or GCLOUD_PROJECT), GOOGLE_CLOUD_LOCATION and the package @earendil-works/pi-ai",
  },
  {
    id: "amazon-bedrock",
    env: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"],
    baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com",
    api: "bedrock-converse-stream",
    presence: "catalog",
    ambient: true,
    note: "region from AWS_REGION or AWS_DEFAULT_REGION; AWS_ACCESS_KEY_ID goes with AWS_SECRET_ACCESS_KEY; needs the package @earendil-works/pi-ai",
  },
  {
    id: "github-copilot",
    env: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    baseUrl: "https://api.individual.githubcopilot.com",
    api: OPENAI_RESPONSES,
    alsoAt: {
      [OPENAI_COMPLETIONS]: "https://api.individual.githubcopilot.com",
      [ANTHROPIC_MESSAGES]: "https://api.individual.githubcopilot.com",
    },
    presence: "catalog",
    models: [
      {
        id: "gpt-4o",
        name: "GPT-4o",
        api: OPENAI_COMPLETIONS,
        input: ["text", "image"],
        contextWindow: 128_000,
        maxTokens: 4096,
        compat: { supportsStore: false, supportsDeveloperRole: false, supportsReasoningEffort: false },
      },
      { id: "gpt-5.2", name: "GPT-5.2", reasoning: true, input: ["text", "image"], contextWindow: 264_000, maxTokens: 64_000 },
    ],
    defaultModel: "gpt-4o",
    note: "the address may come with the token; requests say that they come from openclaw",
  },
  {
    id: "copilot-proxy",
    env: [],
    baseUrl: "http://localhost:3000/v1",
    api: OPENAI_COMPLETIONS,
    presence: "config",
    note: "wants no key; name its models in models.providers",
  },
];
