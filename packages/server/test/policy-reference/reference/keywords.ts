// protocol/policies 1.1: which root names each field knows, and which functions.
import { parseType, type Type } from './types.ts';

export type ExpressionField = 'condition' | 'consensus' | 'time' | 'mfa' | 'scope';

const CONDITION_KEYWORDS: Readonly<Record<string, string>> = {
  activity: 'Activity',
  eth: 'EthNamespace',
  solana: 'SolanaNamespace',
  tron: 'TronNamespace',
  bitcoin: 'BitcoinNamespace',
  tempo: 'TempoNamespace',
  wallet: 'Wallet',
  wallet_account: 'WalletAccount',
  private_key: 'PrivateKey',
  wallets: 'list<Wallet>',
  secret: 'Secret',
};

const KEYWORDS: Record<ExpressionField, Readonly<Record<string, string>>> = {
  condition: CONDITION_KEYWORDS,
  mfa: CONDITION_KEYWORDS,
  scope: CONDITION_KEYWORDS,
  consensus: { approvers: 'list<User>', credentials: 'list<Credential>' },
  time: { time: 'Time' },
};

export function keywordsOf(field: ExpressionField): ReadonlyMap<string, Type> {
  return new Map(Object.entries(KEYWORDS[field]).map(([name, notation]) => [name, parseType(notation)]));
}

/** Functions and their number of arguments. */
export function functionsOf(field: ExpressionField): ReadonlyMap<string, number> {
  return new Map(
    field === 'time'
      ? [
          ['Timestamp', 1],
          ['CronSpan', 3],
        ]
      : [],
  );
}
