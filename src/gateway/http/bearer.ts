import type { IncomingMessage } from "node:http";

/** The secret in an `Authorization: Bearer` header. */
export const bearerOf = (request: IncomingMessage): string | undefined => /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1]?.trim();
