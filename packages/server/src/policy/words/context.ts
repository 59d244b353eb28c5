import { descend, type Node } from '../language/ast.ts';
import type { Names, Unit } from './names.ts';
import { argumentOf, NO_SCOPE, pathOf, type Subject } from './subjects.ts';

/** What is known besides a part: the chain, the contract and the function, from its siblings or from the request. */
export interface Context {
  readonly names: Names;
  readonly caip2?: string | undefined;
  readonly contract?: string | undefined;
  readonly functionName?: string | undefined;
  /** Whether something is said about a call, so that `eth.tx.to` is a contract. */
  readonly isCall: boolean;
}

const SELECTORS: ReadonlyMap<string, string> = new Map([
  ['0xa9059cbb', 'transfer'],
  ['0x095ea7b3', 'approve'],
  ['0x23b872dd', 'transferFrom'],
]);

/** Functions of ERC-20 whose one number is an amount of the token. */
const TOKEN_FUNCTIONS: ReadonlySet<string> = new Set([
  'transfer',
  'approve',
  'transferFrom',
  'increaseAllowance',
  'decreaseAllowance',
]);
const AMOUNT_ARGUMENT = /^_?(?:amount|value|wad|rawAmount|addedValue|subtractedValue)$/;
const RECIPIENT_ARGUMENT = /^_?(?:to|dst|recipient|receiver)$/;

const CALL_PATH = /^eth\.tx\.(?:function_name|function_signature|contract_call_args)\b/;

/** Known values of paths, such as the literals that the conjuncts of a condition ask for. */
export type Values = ReadonlyMap<string, string>;

export function contextOf(names: Names, values: Values, paths: Iterable<string>): Context {
  const chainId = values.get('eth.tx.chain_id') ?? values.get('tempo.tx.chain_id');
  const selector = values.get('eth.tx.function_signature');
  const caip2 = values.get('activity.params.chain_caip2');
  return {
    names,
    caip2: chainId !== undefined && /^[0-9]+$/.test(chainId) ? `eip155:${chainId}` : caip2,
    contract: values.get('eth.tx.to')?.toLowerCase(),
    functionName: values.get('eth.tx.function_name') ?? SELECTORS.get(selector?.toLowerCase() ?? ''),
    isCall: [...paths].some((path) => CALL_PATH.test(path)),
  };
}

/** The literals that these parts, which all hold together, demand by `==`. */
export function demandedValues(conjuncts: readonly Node[]): Values {
  const values = new Map<string, string>();
  for (const node of conjuncts) {
    if (node.kind !== 'compare' || node.operator !== '==') continue;
    for (const [read, literal] of [
      [node.left, node.right],
      [node.right, node.left],
    ] as const) {
      if (literal.kind !== 'string' && literal.kind !== 'integer') continue;
      const path = pathOf(read, NO_SCOPE);
      if (path !== undefined) values.set(path, String(literal.value));
    }
  }
  return values;
}

/** What the conjuncts of an expression say of each other. */
export function contextOfTree(root: Node, conjuncts: readonly Node[], names: Names): Context {
  const paths = new Set<string>();
  for (const part of descend(root)) {
    const path = part.kind === 'field' || part.kind === 'index' ? pathOf(part, NO_SCOPE) : undefined;
    if (path !== undefined) paths.add(path);
  }
  return contextOf(names, demandedValues(conjuncts), paths);
}

/** The configured token that is called, if one is. */
export function tokenOf({ names, caip2, contract }: Context): Unit | undefined {
  return caip2 === undefined || contract === undefined ? undefined : names.token(caip2, contract);
}

export const isTokenCall = (context: Context): boolean =>
  tokenOf(context) !== undefined && context.functionName !== undefined && TOKEN_FUNCTIONS.has(context.functionName);

const ETHER: Unit = { symbol: 'ETH', decimals: 18 };

/** The unit of an amount; undefined for a number that is none, or whose decimals nobody here knows. */
export function unitOf(subject: Subject, context: Context): Unit | undefined {
  if (subject.form === 'gwei') return { symbol: 'gwei', decimals: 9 };
  if (subject.form === 'coin') {
    const caip2 = subject.caip2 ?? context.caip2;
    // A condition that names no chain is about every chain; whole coins of each have as many decimals as ether.
    return caip2 === undefined ? ETHER : context.names.coin(caip2);
  }
  return isTokenAmount(subject, context) ? tokenOf(context) : undefined;
}

export function isTokenAmount({ path }: Subject, context: Context): boolean {
  const argument = argumentOf(path);
  return argument !== undefined && AMOUNT_ARGUMENT.test(argument) && isTokenCall(context);
}

export function isTokenRecipient({ path }: Subject, context: Context): boolean {
  const argument = argumentOf(path);
  const moves = context.functionName === 'transfer' || context.functionName === 'transferFrom';
  return argument !== undefined && RECIPIENT_ARGUMENT.test(argument) && moves && isTokenCall(context);
}

/** What a reader calls it here: the one who is paid by a token is the recipient, and what is called a contract. */
export function labelOf(subject: Subject, context: Context): string {
  if (subject.path === 'eth.tx.to' && context.isCall) return 'contract';
  if (subject.path === 'eth.tx.value' && context.isCall) return 'value sent along';
  if (isTokenAmount(subject, context)) return context.functionName === 'approve' ? 'allowance' : 'amount';
  return isTokenRecipient(subject, context) ? 'recipient' : subject.label;
}

export function rankOf(subject: Subject, context: Context): number {
  if (subject.path === 'eth.tx.to' && context.isCall) return 3;
  return isTokenAmount(subject, context) ? 5 : subject.rank;
}
