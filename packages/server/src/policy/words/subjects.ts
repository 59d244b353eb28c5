import type { Node } from '../language/ast.ts';
import { sayName } from './kinds.ts';

/** How literals and values that meet a subject are written. */
export type Form =
  | 'text'
  | 'number'
  | 'bool'
  | 'kind'
  | 'type'
  | 'name'
  | 'thing'
  | 'address'
  | 'chainId'
  | 'caip2'
  | 'coin'
  | 'gwei'
  | 'argument'
  | 'instant';

/** What an expression reads, in the words of its reader. */
export interface Subject {
  /** The path with every index as `[]`, which is what it means wherever it stands. */
  readonly path: string;
  readonly label: string;
  readonly form: Form;
  /** The more telling, the sooner a sentence speaks of it. */
  readonly rank: number;
  /** The network of an amount that is always of the same. */
  readonly caip2?: string;
}

/** The path that each variable of a lambda stands for. */
export type Scope = ReadonlyMap<string, string>;
export const NO_SCOPE: Scope = new Map();

const ALIASES: Readonly<Record<string, string>> = { gasPrice: 'gas_price', named_account: 'named_accounts' };

/** The path of what a node reads; undefined for anything but a chain of fields and indexes. */
export function pathOf(node: Node, scope: Scope): string | undefined {
  switch (node.kind) {
    case 'name':
      return scope.get(node.name) ?? node.name;
    case 'field':
    case 'method': {
      if (node.kind === 'method' && node.name !== 'count') return undefined;
      const target = pathOf(node.target, scope);
      return target && `${target}.${ALIASES[node.name] ?? node.name}`;
    }
    case 'index': {
      const target = pathOf(node.target, scope);
      if (target === undefined) return undefined;
      if (node.index.kind === 'string') return `${target}['${node.index.value}']`;
      return node.index.kind === 'integer' ? `${target}[]` : undefined;
    }
    default:
      return undefined;
  }
}

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const TRON = 'tron:0x2b6653dc';
const BITCOIN = 'bip122:000000000019d6689c085ae165831e93';

type Row = readonly [label: string, form: Form, rank: number, caip2?: string];

const ROWS: Readonly<Record<string, Row>> = {
  'activity.type': ['kind', 'type', 0],
  'activity.kind': ['kind', 'kind', 0],
  'activity.resource': ['resource', 'name', 0],
  'activity.action': ['action', 'name', 0],
  'activity.params.user_id': ['user', 'thing', 3],
  'activity.params.wallet_id': ['wallet', 'thing', 2],
  'activity.params.sign_with': ['signer', 'address', 2],
  'activity.params.chain_caip2': ['chain', 'caip2', 1],
  'activity.params.vault_address': ['vault', 'address', 4],
  'activity.params.wrapper_address': ['vault wrapper', 'address', 4],
  'activity.params.client_fee_wallet': ['fee wallet', 'address', 3],
  'wallet.id': ['wallet', 'thing', 2],
  'wallet.label': ['wallet name', 'text', 2],
  'wallets[].id': ['wallet', 'thing', 2],
  'wallets[].label': ['wallet name', 'text', 2],
  'wallet_account.address': ['account', 'address', 2],
  'private_key.id': ['private key', 'thing', 2],
  'private_key.label': ['private key name', 'text', 2],
  'secret.id': ['secret', 'text', 2],
  'secret.name': ['secret', 'text', 2],
  'eth.tx.from': ['sender', 'address', 2],
  'eth.tx.to': ['recipient', 'address', 4],
  'eth.tx.value': ['amount', 'coin', 5],
  'eth.tx.chain_id': ['chain', 'chainId', 1],
  'eth.tx.data': ['call data', 'text', 3],
  'eth.tx.gas': ['gas limit', 'number', 2],
  'eth.tx.gas_price': ['gas price', 'gwei', 2],
  'eth.tx.max_fee_per_gas': ['fee per gas', 'gwei', 2],
  'eth.tx.max_priority_fee_per_gas': ['priority fee per gas', 'gwei', 2],
  'eth.tx.type': ['transaction type', 'text', 1],
  'eth.tx.function_name': ['function', 'text', 3],
  'eth.tx.function_signature': ['function selector', 'text', 3],
  'eth.eip_712.primary_type': ['typed data', 'text', 3],
  'eth.eip_712.domain.name': ['typed data domain', 'text', 3],
  'eth.eip_712.domain.chain_id': ['chain', 'chainId', 1],
  'eth.eip_712.domain.verifying_contract': ['verifying contract', 'address', 4],
  'eth.eip_7702_authorization.address': ['delegated code', 'address', 5],
  'eth.eip_7702_authorization.chain_id': ['chain', 'chainId', 1],
  'solana.tx.transfers[].to': ['recipient', 'address', 4],
  'solana.tx.transfers[].from': ['sender', 'address', 2],
  'solana.tx.transfers[].amount': ['amount', 'coin', 5, SOLANA],
  'solana.tx.spl_transfers[].to': ['recipient', 'address', 4],
  'solana.tx.spl_transfers[].from': ['sender', 'address', 2],
  'solana.tx.spl_transfers[].owner': ['owner', 'address', 2],
  'solana.tx.spl_transfers[].token_mint': ['token', 'address', 3],
  'solana.tx.spl_transfers[].amount': ['amount in the smallest unit', 'number', 5],
  'solana.tx.instructions[].program_key': ['program', 'address', 3],
  'solana.tx.program_keys[]': ['program', 'address', 3],
  'tron.tx.contract[].to_address': ['recipient', 'address', 4],
  'tron.tx.contract[].owner_address': ['sender', 'address', 2],
  'tron.tx.contract[].contract_address': ['contract', 'address', 3],
  'tron.tx.contract[].amount': ['amount', 'coin', 5, TRON],
  'tron.tx.contract[].call_value': ['amount', 'coin', 5, TRON],
  'tron.tx.contract[].type': ['contract type', 'text', 3],
  'tron.tx.fee_limit': ['fee limit', 'coin', 2, TRON],
  'bitcoin.tx.outputs[].address': ['recipient', 'address', 4],
  'bitcoin.tx.outputs[].value': ['amount', 'coin', 5, BITCOIN],
  'bitcoin.tx.fee': ['fee', 'coin', 3, BITCOIN],
  'tempo.tx.chain_id': ['chain', 'chainId', 1],
  'tempo.tx.calls[].to': ['recipient', 'address', 4],
  'tempo.tx.fee_token': ['fee token', 'address', 2],
  'approvers[].id': ['user', 'thing', 3],
  'approvers[].email': ['email address', 'text', 3],
  'approvers[].alias': ['alias', 'text', 3],
  'credentials[].user_id': ['user', 'thing', 3],
  'credentials[].type': ['credential', 'name', 3],
  'credentials[].public_key': ['public key', 'text', 3],
  'time.now': ['time', 'instant', 3],
};

/** What each element of a list is called. */
export const ELEMENTS: Readonly<Record<string, string>> = {
  'solana.tx.transfers': 'transfer',
  'solana.tx.spl_transfers': 'token transfer',
  'solana.tx.instructions': 'instruction',
  'solana.tx.account_keys': 'account',
  'solana.tx.program_keys': 'program',
  'solana.tx.address_table_lookups': 'table lookup',
  'tron.tx.contract': 'contract',
  'bitcoin.tx.outputs': 'output',
  'bitcoin.tx.inputs': 'input',
  'tempo.tx.calls': 'call',
  wallets: 'wallet',
  approvers: 'approver',
  credentials: 'credential',
  'activity.params.user_ids': 'user',
  'activity.params.api_key_ids': 'API key',
};

const ARGUMENT = /^eth\.tx\.contract_call_args\['(.*)'\]$/s;
const MEMBER = /^eth\.eip_712\.message\['(.*)'\]$/s;

/** The name of a decoded argument, if the path reads one. */
export const argumentOf = (path: string): string | undefined => ARGUMENT.exec(path)?.[1];

export function subjectOf(node: Node, scope: Scope): Subject | undefined {
  const path = pathOf(node, scope);
  if (path === undefined) return undefined;
  const row = Object.hasOwn(ROWS, path) ? ROWS[path] : undefined;
  if (row !== undefined) {
    const [label, form, rank, caip2] = row;
    return { path, label, form, rank, ...(caip2 !== undefined && { caip2 }) };
  }
  const argument = argumentOf(path);
  if (argument !== undefined) return { path, label: `argument “${argument}”`, form: 'argument', rank: 4 };
  const member = MEMBER.exec(path)?.[1];
  if (member !== undefined) return { path, label: `member “${member}”`, form: 'text', rank: 4 };
  const list = path.endsWith('.count') ? ELEMENTS[path.slice(0, -'.count'.length)] : undefined;
  if (list !== undefined) return { path, label: `number of ${list}s`, form: 'number', rank: 3 };
  if (/^(?:activity\.params|wallet|private_key|eth\.tx|wallet_account)\.[a-z_0-9]+$/.test(path)) {
    const words = path.split('.');
    const owner = words[0] === 'wallet' ? 'wallet ' : words[0] === 'private_key' ? 'private key ' : '';
    return { path, label: `${owner}${sayName(words.at(-1) as string)}`, form: 'text', rank: 2 };
  }
  return undefined;
}
