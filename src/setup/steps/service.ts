import type { Setup } from "../context.ts";

/** What becomes of the service. To replace it is to write over it and restart it. */
export type ServiceWish = "none" | "install" | "replace" | "restart";

const FILE_OTHER = "A different service file is installed and was kept. Replace it with: openclaw gateway install --force";

/** Whether the gateway shall start with the machine. Nobody is asked for what this machine cannot do. */
export async function chooseService({ ask, answers, host, flow, notify }: Setup): Promise<ServiceWish> {
  if (answers.installDaemon !== undefined) return answers.installDaemon ? "install" : "none";
  if (!ask || !host.service) return "none";
  const { state, unavailable } = await host.service.look();
  if (unavailable !== undefined) {
    await notify(`Cannot install a service: ${unavailable}`);
    return "none";
  }
  if (state === "absent") {
    const message = "Start the gateway with this machine, as a service?";
    return (await ask.confirm({ message, initialValue: flow === "advanced" })) ? "install" : "none";
  }
  // An unchanged file may be written again: the port may have changed.
  const ways = {
    same: [{ value: "replace", label: "Restart it" }],
    other: [
      { value: "restart", label: "Restart it" },
      { value: "replace", label: "Rewrite its file and restart it", hint: "manual changes to the file are lost" },
    ],
  } as const;
  return ask.select<ServiceWish>({
    message: "The gateway service is already installed",
    options: [...ways[state], { value: "none", label: "Keep it" }],
    initialValue: state === "same" ? "replace" : "none",
  });
}

/** Installs or restarts the service. False: it did not work, and the user has been shown why. */
export async function applyService({ ask, host, notify }: Setup, wish: ServiceWish): Promise<boolean> {
  if (wish === "none") return true;
  const { service } = host;
  if (!service) {
    await notify("A service cannot be installed from here. Run: openclaw gateway install");
    return false;
  }
  const { state, unavailable } = await service.look();
  const refusal = unavailable ?? (wish === "install" && state === "other" ? FILE_OTHER : undefined);
  if (refusal !== undefined) {
    await notify(refusal);
    return false;
  }
  const progress = ask?.progress(wish === "restart" ? "Restarting the service" : "Installing the service");
  const installed = wish === "restart" ? undefined : await service.install({ force: wish === "replace" });
  const restarted = wish === "install" || installed?.ok === false ? undefined : await service.restart();
  const ok = (installed?.ok ?? true) && (restarted?.ok ?? true);
  const text = [installed?.text, restarted?.text].filter(Boolean).join("\n");
  const done = wish === "restart" ? "restarted" : "installed";
  progress?.stop(ok ? `Service ${done}` : `Service could not be ${done}`);
  if (text !== "") await notify(text);
  return ok;
}
