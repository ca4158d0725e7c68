import { createHash, createHmac } from "node:crypto";

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface AwsRequest {
  readonly url: URL;
  readonly region: string;
  readonly service: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const mac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const EMPTY_BODY = hex("");

/** Headers of a GET request without a body, signed with AWS signature version 4. */
export function signedHeaders({ url, region, service, now }: AwsRequest, keys: AwsKeys): Readonly<Record<string, string>> {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = stamp.slice(0, 8);
  const token = keys.sessionToken;
  const headers: Readonly<Record<string, string>> = { host: url.host, "x-amz-date": stamp, ...(token === undefined ? {} : { "x-amz-security-token": token }) };
  const names = Object.keys(headers).sort();
  const signed = names.join(";");
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join("&");
  const canonical = ["GET", url.pathname, query, ...names.map((name) => `${name}:${headers[name]}`), "", signed, EMPTY_BODY].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", stamp, scope, hex(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(mac, `AWS4${keys.secretAccessKey}`);
  const { host: _host, ...sent } = headers;
  const signature = mac(key, toSign).toString("hex");
  return { ...sent, authorization: `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}` };
}
