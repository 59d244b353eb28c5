import type { DescribedField } from '../../api/types.ts';
import { Address } from '../../kit/address.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { Hash } from '../../kit/hash.tsx';
import { Sentence, sentenceText } from '../../kit/sentence.tsx';
import { Time } from '../../kit/time.tsx';
import styles from './request.module.css';

export interface DescribedFieldsProps {
  readonly fields: readonly DescribedField[];
  /** Addresses on one line, where there is room. */
  readonly oneLine?: boolean;
  readonly copy?: boolean;
}

/** The layer between the sentence and the bytes; each field says who vouches for it. */
export function DescribedFields({ fields, oneLine = false, copy = true }: DescribedFieldsProps) {
  return (
    <Facts>
      {fields.map((field, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: labels repeat, and the fields of a request never move
        <Fact key={index} label={field.label} {...(field.note !== undefined && { note: field.note })}>
          <FieldValue field={field} oneLine={oneLine} copy={copy} />
        </Fact>
      ))}
    </Facts>
  );
}

function FieldValue({
  field,
  oneLine,
  copy,
}: {
  readonly field: DescribedField;
  readonly oneLine: boolean;
  readonly copy: boolean;
}) {
  const text = sentenceText(field.value);
  const addresses = field.value.filter(({ address }) => address !== undefined);
  if (addresses.length > 0) {
    const hasName = field.value.some(({ text: shown, address }) => shown !== address && shown.trim() !== '');
    return (
      <>
        {hasName && <Sentence as="p" size="fact" parts={field.value} />}
        {addresses.map(({ address = '' }) => (
          <p key={address}>
            <Address address={address} shape="decision" oneLine={oneLine} copy={copy} />
          </p>
        ))}
      </>
    );
  }
  switch (field.kind) {
    case 'ADDRESS':
      return <Address address={text} shape="decision" oneLine={oneLine} copy={copy} />;
    case 'ID':
      return <Hash value={text} what={field.label.toLowerCase()} />;
    case 'TIME':
      return Number.isNaN(Date.parse(text)) ? <bdi>{text}</bdi> : <Time time={text} shape="exact" />;
    case 'BYTES':
    case 'CODE':
      return <code className={styles.bytes}>{text}</code>;
    default:
      return <Sentence size="fact" parts={field.value} />;
  }
}
