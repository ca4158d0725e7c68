/** Who and what can be written to. */
import { type ChannelPlugin, listSlackDirectoryGroupsFromConfig, listSlackDirectoryPeersFromConfig } from "openclaw/plugin-sdk";
import { type Fields, fieldsOf, messageOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import { isUserId } from "./account.ts";
import type { Workspace, Workspaces } from "./workspace.ts";

type Directory = NonNullable<ChannelPlugin["directory"]>;
type Entry = Awaited<ReturnType<NonNullable<Directory["listPeers"]>>>[number];

const MOST = 1000;
const KINDS = "public_channel,private_channel,mpim";

function personOf(user: Fields): Entry {
  const profile = fieldsOf(user["profile"]);
  const name = textOf(profile?.["display_name"]) ?? textOf(user["real_name"]) ?? textOf(user["name"]);
  return { kind: "user", id: `user:${textOf(user["id"]) ?? ""}`, name, handle: textOf(user["name"]), avatarUrl: textOf(profile?.["image_72"]) };
}

const channelOf = (channel: Fields): Entry => ({
  kind: channel["is_mpim"] === true ? "group" : "channel",
  id: `channel:${textOf(channel["id"]) ?? ""}`,
  name: textOf(channel["name"]),
});

function matching(entries: readonly Entry[], query: string | null | undefined, limit: number | null | undefined): Entry[] {
  const wanted = query?.trim().toLowerCase().replace(/^[@#]/, "") ?? "";
  const found = entries.filter(({ id, name, handle }) => [id, name, handle].some((text) => text?.toLowerCase().includes(wanted)));
  return found.slice(0, limit ?? found.length);
}

async function people({ api }: Workspace): Promise<readonly Fields[]> {
  const all = await api.list("users.list", "members", {}, MOST, { as: "read" });
  return all.filter((user) => user["deleted"] !== true && user["id"] !== "USLACKBOT");
}

const conversations = ({ api }: Workspace): Promise<readonly Fields[]> =>
  api.list("conversations.list", "channels", { types: KINDS, exclude_archived: true }, MOST, { as: "read" });

export function createDirectory(workspaces: Workspaces): Directory {
  return {
    async self({ cfg, accountId }) {
      const { userId, name } = await workspaces.of(cfg, accountId).self();
      return { kind: "user", id: `user:${userId}`, name, handle: name };
    },
    listPeers: listSlackDirectoryPeersFromConfig,
    listGroups: listSlackDirectoryGroupsFromConfig,
    listPeersLive: async ({ cfg, accountId, query, limit }) => matching((await people(workspaces.of(cfg, accountId))).map(personOf), query, limit),
    listGroupsLive: async ({ cfg, accountId, query, limit }) => matching((await conversations(workspaces.of(cfg, accountId))).map(channelOf), query, limit),
    async listGroupMembers({ cfg, accountId, groupId, limit }) {
      const workspace = workspaces.of(cfg, accountId);
      const channel = groupId.replace(/^(?:channel:|#)/i, "").toUpperCase();
      const members = await workspace.api.list("conversations.members", "members", { channel }, limit ?? MOST, { as: "read" });
      return Promise.all(
        members.map(async ({ id }): Promise<Entry> => ({ kind: "user", id: `user:${String(id)}`, name: await workspace.userName(String(id)) })),
      );
    },
  };
}

/** Names and mail addresses → ids. */
export function createResolver(workspaces: Workspaces): NonNullable<ChannelPlugin["resolver"]> {
  return {
    async resolveTargets({ cfg, accountId, inputs, kind }) {
      const workspace = workspaces.of(cfg, accountId);
      const all = await (kind === "user" ? people : conversations)(workspace).catch((error: unknown) => messageOf(error));
      return inputs.map((input) => {
        const wanted = input.trim().replace(/^(?:slack:|user:|channel:|[@#])+/i, "");
        if (typeof all === "string") return { input, resolved: false, note: all };
        const isNamed = (entry: Fields): boolean => {
          const profile = fieldsOf(entry["profile"]);
          return [entry["id"], entry["name"], entry["real_name"], profile?.["display_name"], profile?.["email"]].some(
            (text) => typeof text === "string" && text.toLowerCase() === wanted.toLowerCase(),
          );
        };
        const found = all.filter(isNamed);
        const [first] = found;
        const id = textOf(first?.["id"]);
        if (id === undefined) return { input, resolved: false, note: kind === "user" && isUserId(wanted) ? "no user with this id" : "not found" };
        if (found.length > 1) return { input, resolved: false, note: `${found.length} matches: use the id` };
        return { input, resolved: true, id, name: textOf(first?.["name"]) };
      });
    },
  };
}
