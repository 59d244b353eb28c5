export declare function findMisplacedImports(texts: ReadonlyMap<string, string>): string[];
