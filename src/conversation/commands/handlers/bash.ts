import { notThere, switchedOff, type Handler } from "../handling.ts";

const HELP = ["`! <command>` or /bash <command> - run it on the host", "!poll [id] - what it says meanwhile", "!stop [id] - end it"].join("\n");
const FOREGROUND_MS = 2000;

/** A command on the host, without the model. Off unless the configuration says otherwise, and only for whom the gates of `tools.elevated` let through. */
export const bash: Handler = async ({ ports, call, args }) => {
  const { commands } = ports.config.current();
  if (commands?.bash !== true) return switchedOff("bash");
  const gate = ports.elevation(call);
  if (!gate.permitted) return ["/bash is not available here:", ...gate.reasons.map((reason) => `- ${reason}`)].join("\n");
  if (!ports.bash) return notThere("bash", "nothing runs commands for chats");
  const [, verb = "", id] = /^(poll|stop|help)(?:\s+(\S+))?$/i.exec(args) ?? [];
  switch (verb.toLowerCase()) {
    case "poll":
      return ports.bash.poll(call, id);
    case "stop":
      return ports.bash.stop(call, id);
    case "help":
      return HELP;
    default:
      return args === "" ? HELP : ports.bash.run(call, args, commands.bashForegroundMs ?? FOREGROUND_MS);
  }
};
