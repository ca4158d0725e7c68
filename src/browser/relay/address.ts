import { AppError } from "../../base/errors.ts";

/** The port in a relay profile's address; undefined when it has none. The extension connects to this machine only. */
export function addressPort(cdpUrl: string | undefined): number | undefined {
  if (cdpUrl === undefined || cdpUrl.trim() === "") return undefined;
  const url = URL.canParse(cdpUrl) ? new URL(cdpUrl) : undefined;
  if (url && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname) && Number(url.port) > 0) return Number(url.port);
  throw new AppError(
    "CONFIG_INVALID",
    `"${cdpUrl.slice(0, 100)}" is not an address that the extension can connect to: write http://127.0.0.1:<port>, or remove cdpUrl for the usual port`,
  );
}
