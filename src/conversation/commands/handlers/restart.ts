import { notThere, type Handler } from "../handling.ts";

export const restart: Handler = async ({ ports, call }) => {
  if (ports.config.current().commands?.restart === false) return "/restart is switched off: commands.restart is false.";
  if (!ports.restart) return notThere("restart", "the gateway cannot restart itself here");
  const way = await ports.restart(`/restart by ${call.senderId === undefined ? call.channel : `${call.channel}:${call.senderId}`}`);
  return `Restarting ${way}.`;
};
