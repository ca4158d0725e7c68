/**
 * Requests that change something and may be sent again under the same key: the gateway does each once, however often the connection is lost before its
 * answer. Left out are those whose answers hold secrets, which are not stored under a key, and those that make no sense after a restart.
 */
const ACTIONS: ReadonlySet<string> = new Set(
  [
    "agents.create agents.delete agents.files.restore agents.files.set agents.update backup.create backup.remove backup.verify",
    "channels.logout channels.pairing.approve channels.pairing.owner channels.pairing.reject channels.pairing.revoke channels.start channels.stop",
    "chat.branch chat.regenerate config.apply config.restore config.set cron.add cron.remove cron.run cron.update",
    "device.pair.approve device.pair.reject device.pair.remove device.token.revoke exec.approval.resolve",
    "exec.approvals.forget exec.approvals.restore exec.approvals.set memory.index memory.notes.delete memory.notes.restore memory.notes.set",
    "node.pair.approve node.pair.reject node.pair.remove node.rename plugins.enable plugins.install plugins.reload plugins.uninstall prompts.put prompts.remove security.fix",
    "sessions.compact sessions.delete sessions.patch sessions.reset sessions.restore setup.channel setup.key setup.local",
    "skills.add skills.create skills.file.set skills.install skills.remove skills.update subagents.kill subagents.steer",
  ].flatMap((names) => names.split(" ")),
);

export const isAction = (method: string): boolean => ACTIONS.has(method);
