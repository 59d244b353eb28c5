import type { DescribedWarning, SentenceFacts } from './description.ts';

/** What the author of a policy should have meant; a description shows it, nothing is refused for it. */
export function cautionsAbout(effect: string, facts: SentenceFacts): DescribedWarning[] {
  if (effect === 'EFFECT_DENY') return [];
  const found: DescribedWarning[] = [];
  if (!facts.hasCondition) {
    found.push({ code: 'NO_CONDITION', message: 'No condition. It allows everything that a policy can allow.' });
  }
  if (!facts.hasConsensus) {
    found.push({
      code: 'NO_CONSENSUS',
      message: 'No consensus. Every user of the organization can do it alone, by any of their credentials.',
    });
  }
  if (facts.sends && !facts.limitsRecipient) {
    found.push({ code: 'ANY_RECIPIENT', message: 'Any recipient. Nothing limits who receives what is sent.' });
  }
  if (facts.sends && !facts.limitsAmount && !facts.limitsRecipient) {
    found.push({ code: 'ANY_AMOUNT', message: 'Any amount. Nothing limits how much a payment sends.' });
  }
  return found;
}
