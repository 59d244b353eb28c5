import type { Keyring } from '@custos/keyring';
import type { Config } from '../config/config.ts';
import { OperatorKeyReader } from '../domains/sends/store/operator-keys.ts';
import { openBeside } from './beside.ts';
import { openKeyringBeside } from './open-keyring.ts';

export interface ListedChain {
  readonly caip2: string;
  /** How many nodes are named. Their addresses may hold passwords. */
  readonly nodes: number;
  readonly operatorAddress: string | undefined;
  readonly hasOperatorKey: boolean;
}

/** The chains of the settings, and whether the operator's key of each was imported. */
export async function listConfiguredChains(config: Config): Promise<ListedChain[]> {
  const chains = [...config.chains.values()];
  const stored = new Set<string>();
  // Only the keys are in the database.
  if (chains.some(({ operatorAddress }) => operatorAddress !== undefined)) {
    const storage = await openBeside(config, 'chains list');
    let keyring: Keyring | undefined;
    try {
      keyring = await openKeyringBeside(storage, config);
      for (const { caip2, operatorAddress } of chains) {
        if (operatorAddress === undefined) continue;
        if (await storage.read(OperatorKeyReader).hasOperatorKey(caip2, operatorAddress)) stored.add(caip2);
      }
    } finally {
      await keyring?.close();
      await storage.close();
    }
  }
  return chains.map(({ caip2, rpcUrls, operatorAddress }) => ({
    caip2,
    nodes: rpcUrls.length,
    operatorAddress,
    hasOperatorKey: stored.has(caip2),
  }));
}
