import type { LabGateway } from "../conformance/channels/lab-gateway.ts";

export const HOOK_TOKEN = "token-of-hooks-0123456789abcdef";

export interface HookReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface HookPost {
  readonly headers?: Readonly<Record<string, string>>;
  /** Null sends none. */
  readonly token?: string | null;
  readonly method?: string;
}

/** Sends a request to the hooks of a gateway, with the right token unless another is named. */
export async function postHook(
  gateway: Pick<LabGateway, "url">,
  path: string,
  body: unknown,
  { headers = {}, token = HOOK_TOKEN, method = "POST" }: HookPost = {},
): Promise<HookReply> {
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const answer = await fetch(`${gateway.url}/hooks${path}`, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(text === undefined || method === "GET" ? {} : { body: text }),
  });
  const shown = await answer.text();
  return { status: answer.status, headers: answer.headers, body: shown === "" ? {} : (JSON.parse(shown) as Record<string, unknown>) };
}

/** Requests to the model whose last message has a text. */
export const askedFor = ({ model }: Pick<LabGateway, "model">, text: string) => model.requests.filter(({ user }) => user.includes(text));
