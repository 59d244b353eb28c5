export const NODE_VERSIONS: readonly string[];
export function findNode(version: string): string;
export function installNodes(): void;
