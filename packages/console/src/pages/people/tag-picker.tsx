import { Checkbox } from '../../kit/field.tsx';
import styles from './people.module.css';

export interface TagChoice {
  readonly tagId: string;
  readonly tagName: string;
}

export interface TagPickerProps {
  readonly tags: readonly TagChoice[];
  readonly chosen: readonly string[];
  readonly onChange: (tagIds: readonly string[]) => void;
}

export function TagPicker({ tags, chosen, onChange }: TagPickerProps) {
  if (tags.length === 0) return null;
  return (
    <fieldset className={styles.pick}>
      <legend className={styles.legend}>Tags</legend>
      <div className={styles.scrolls}>
        {tags.map(({ tagId, tagName }) => (
          <Checkbox
            key={tagId}
            label={<bdi>{tagName}</bdi>}
            checked={chosen.includes(tagId)}
            onChange={(isChosen) => onChange(isChosen ? [...chosen, tagId] : chosen.filter((other) => other !== tagId))}
          />
        ))}
      </div>
    </fieldset>
  );
}
