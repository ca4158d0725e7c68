/** Port and secret: entered by the user, else from the file that `openclaw browser extension install` wrote into this folder. */

export const isValid = (settings) =>
  Number.isInteger(settings?.port) && settings.port > 0 && settings.port < 65536 && /^[0-9a-f]{32,128}$/.test(settings?.secret ?? "");

/** The settings in this folder; undefined when there are none. */
export async function installedSettings() {
  try {
    const found = await (await fetch(chrome.runtime.getURL("connection.json"))).json();
    return isValid(found) ? { port: found.port, secret: found.secret } : undefined;
  } catch {
    return undefined;
  }
}

export async function settings() {
  const { entered } = await chrome.storage.local.get("entered");
  return isValid(entered) ? entered : installedSettings();
}
