import { chainName } from '../../chains/networks.ts';
import { chainPart, partyPart, senderOf, signerPart } from '../../describe/chains/parties.ts';
import { lookClosely, routine, type Sentence, type SentenceContext } from '../../describe/sentence.ts';
import { say, strong } from '../../describe/text.ts';
import { amount } from '../../describe/values.ts';

interface EarnTerms {
  readonly wrapperAddress: string;
  readonly signWith: string;
  /** In the smallest unit, or a word for all of it. */
  readonly amount: string;
  readonly chainCaip2: string;
}

/** Money that goes into a vault, or comes back. */
export function earnSentence(context: SentenceContext, kind: 'deposit' | 'withdraw', terms: EarnTerms): Sentence {
  const caip2 = chainName(terms.chainCaip2);
  const wrapper = context.names.get('earnWrapper', terms.wrapperAddress.toLowerCase());
  const isAll = !/^[0-9]+$/.test(terms.amount);
  const what = isAll
    ? [strong('everything')]
    : wrapper === undefined
      ? say`${strong(terms.amount)} of the smallest unit of its asset`
      : [amount(BigInt(terms.amount), wrapper)];
  const vault = partyPart(context, wrapper?.vaultAddress ?? terms.wrapperAddress, caip2);
  const account = signerPart(context, terms.signWith, caip2);
  const where = say` on ${chainPart(caip2)}`;
  const said =
    kind === 'withdraw'
      ? routine(say`Take ${what} out of vault ${vault} for ${account}${where}.`)
      : lookClosely(
          say`Deposit ${what} of ${account} into vault ${vault}${where}: what it earns and loses is its contract's affair.`,
          'puts money into a contract',
          'The money is then in a contract that can lose it. I want that.',
        );
  return { ...said, sender: senderOf(context, terms.signWith, caip2) };
}
