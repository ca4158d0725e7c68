export { createDiscovery, type AskedServer, type Discovery, type DiscoveryDeps, type Found } from "./discovery.ts";
export { listModels, type ListedModel, type ListingRequest } from "./listing.ts";
export { createHostedLists, type HostedLists, type HostedListsDeps } from "./hosted.ts";
