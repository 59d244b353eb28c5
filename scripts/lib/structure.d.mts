export declare const AGAINST_THE_FLOW: readonly string[];
export declare function findMisplacedImports(
  texts: ReadonlyMap<string, string>,
  exceptions: readonly string[],
): string[];
