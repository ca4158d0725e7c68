import type { Setup } from "../context.ts";

/** Whether the gateway shall start with the machine. */
export async function wantsService({ ask, given, place, flow }: Setup): Promise<boolean> {
  if (given.installDaemon !== undefined || !ask || !place.service) return given.installDaemon ?? false;
  return ask.confirm({ message: "Let the gateway start with this machine, as a service?", initialValue: flow === "advanced" });
}

/** Makes it so. False: it did not work, and the person was told why. */
export async function installService({ ask, place, tell }: Setup): Promise<boolean> {
  if (!place.service) {
    await tell("a service cannot be installed from here; run: openclaw gateway install");
    return false;
  }
  const progress = ask?.progress("Installing the service");
  const { ok, text } = await place.service.install();
  progress?.stop(ok ? "The service is installed" : "The service could not be installed");
  await tell(text);
  return ok;
}
