export { archiveLegacyStateSource, defineChannelAliasMigration } from "../newer/small.ts";
