import { SOLANA_CHAIN } from '../chain/fake-solana.ts';
import { wireOf } from '../chain/solana-transfer.ts';
import type { TestClient } from '../harness/client.ts';
import { type Build, byRoot } from './case.ts';

// Transactions for Solana in the tests of every operation.

const SOLANA = {
  curve: 'CURVE_ED25519',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/501'/0'/0'",
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
};
/** Thirty-two zero bytes: it takes a fresh one. */
const NO_BLOCKHASH = '1'.repeat(32);

let made = 0;
const addresses = new Map<string, Promise<string>>();

async function newSolanaAddress(client: TestClient): Promise<string> {
  made += 1;
  const parameters = { walletName: `Solana ${made}`, accounts: [SOLANA] };
  return (await client.run('create_wallet', parameters)).addresses[0];
}

/** One of the organization's, made when it is first needed. */
export function solanaAddress(client: TestClient): Promise<string> {
  const known = addresses.get(client.organizationId) ?? newSolanaAddress(client);
  addresses.set(client.organizationId, known);
  return known;
}

/** A payment to nobody in particular, without the keys that sign it. */
export const solanaPayment = (from: string) => ({
  unsignedTransaction: wireOf({ signers: [from], blockhash: NO_BLOCKHASH }),
  caip2: SOLANA_CHAIN.caip2,
});

export const SOLANA_CASES: Readonly<Record<string, Build>> = {
  sol_send_transaction: byRoot(async ({ root }) => {
    const from = await solanaAddress(root);
    const terms = { sponsor: false, recentBlockhash: NO_BLOCKHASH };
    return { ...solanaPayment(from), ...terms, signWith: from, signWiths: [from] };
  }),
};
