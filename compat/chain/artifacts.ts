// Our contracts as scripts/contracts.mjs compiled them.
import { readFileSync } from 'node:fs';
import type { Artifact } from './deploy.ts';

type Contract = 'CustosBatch' | 'EarnAaveWrapper' | 'EarnSplitter' | 'EarnWrapper';
type TestContract =
  | 'TestMarketAdapter'
  | 'TestMetaMorpho'
  | 'TestMetaMorphoFactory'
  | 'TestOldToken'
  | 'TestToken'
  | 'TestVault'
  | 'TestVaultV2'
  | 'TestVaultV2Factory';

export const artifact = (name: Contract): Artifact => read(name);

export const testArtifact = (name: TestContract): Artifact => read(`test/${name}`);

function read(name: string): Artifact {
  return JSON.parse(readFileSync(new URL(`../../contracts/artifacts/${name}.json`, import.meta.url), 'utf8'));
}
