import type { ListSendsResponse } from '@custos/sdk';
import type { Chain } from '../../api/chains.ts';
import type { StatusTone } from '../../kit/status-mark.tsx';
import { shortAddress } from '../../lib/addresses.ts';
import { cutDecimals, formatUnits, withThousands } from '../../lib/amounts.ts';

export type Send = ListSendsResponse['sends'][number];
export type SendState = Send['state'];

export const STATES: readonly { readonly id: SendState; readonly label: string }[] = [
  { id: 'INITIALIZED', label: 'Waiting to leave' },
  { id: 'BROADCASTING', label: 'On its way' },
  { id: 'INCLUDED', label: 'In a block' },
  { id: 'FAILED', label: 'Failed' },
];

const GWEI = 9;
const NATIVE = { eip155: { symbol: 'ETH', decimals: 18 }, solana: { symbol: 'SOL', decimals: 9 } } as const;

/** The coin of a send's chain; of a chain that is no longer configured, its family's. */
export function coinOf(
  caip2: string,
  chains: readonly Chain[],
): { readonly symbol: string; readonly decimals: number } {
  const chain = chains.find((one) => one.caip2 === caip2);
  return chain?.nativeAsset ?? (caip2.startsWith('solana:') ? NATIVE.solana : NATIVE.eip155);
}

export const feeText = (send: Send, chains: readonly Chain[]): string | undefined => {
  if (send.feePaid === undefined) return undefined;
  const { symbol, decimals } = coinOf(send.caip2, chains);
  return `${formatUnits(BigInt(send.feePaid), decimals)}\u00a0${symbol}`;
};

/** Prices of gas are read in billionths. */
export const gasPriceText = (wei: string): string => `${cutDecimals(formatUnits(BigInt(wei), GWEI))}\u00a0gwei`;

/** What became of it, in words and a colour. */
export function stateOf(send: Send, chains: readonly Chain[]): { readonly tone: StatusTone; readonly text: string } {
  const fee = feeText(send, chains);
  switch (send.state) {
    case 'INITIALIZED':
      return { tone: 'wait', text: 'waits to leave' };
    case 'BROADCASTING':
      return {
        tone: 'wait',
        text: send.attempts.length > 1 ? `on its way, ${send.attempts.length - 1} times replaced` : 'on its way',
      };
    case 'INCLUDED':
      return {
        tone: 'allow',
        text: send.blockNumber === undefined ? 'in a block' : `in block ${withThousands(send.blockNumber)}`,
      };
    default:
      return {
        tone: 'deny',
        text: send.blockNumber === undefined ? 'failed, no fee paid' : `reverted${fee ? `, fee ${fee} paid` : ''}`,
      };
  }
}

const PURPOSES: Readonly<Record<Send['purpose'], string>> = {
  SEND: 'Call',
  RAW: 'Transaction signed elsewhere',
  EARN_DEPLOY: 'Deploy a fee wrapper',
  EARN_APPROVE: 'Approve a deposit',
  EARN_DEPOSIT: 'Deposit into a vault',
  EARN_WITHDRAW: 'Withdraw from a vault',
  EARN_CLAIM: 'Claim fees of a vault',
};

/** What it does, as far as the list knows it; the activity's sentence says more. */
export function plainSentence(send: Send, chains: readonly Chain[]): string {
  const { symbol, decimals } = coinOf(send.caip2, chains);
  const value = BigInt(send.value ?? '0');
  const to = send.to === undefined ? '' : ` to ${shortAddress(send.to)}`;
  if (send.purpose === 'SEND' || send.purpose === 'RAW') {
    if (value > 0n) return `${formatUnits(value, decimals)} ${symbol}${to}`;
    if ((send.callCount ?? 1) > 1) return `${send.callCount} calls together`;
    if (send.caip2.startsWith('solana:')) return 'A Solana transaction';
    return send.to === undefined ? PURPOSES[send.purpose] : `Call of ${shortAddress(send.to)}`;
  }
  return PURPOSES[send.purpose];
}

/** Whether an error came from the contract, so that repeating it as it is would not help. */
export const isRevert = (error: string): boolean => error.startsWith('execution reverted');
