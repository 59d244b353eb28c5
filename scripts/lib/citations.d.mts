export const RETIRED_FAMILIES: readonly string[];
export function findBrokenCitations(files: ReadonlyMap<string, string>, known?: ReadonlySet<string>): string[];
