import { lazy, Suspense, useId, useMemo } from 'react';
import { Hidden } from '../../../kit/hidden.tsx';
import { Icon } from '../../../kit/icon.tsx';
import { LinkButton } from '../../../kit/link-button.tsx';
import { cx } from '../../../lib/cx.ts';
import { type Expression, lineAndColumn } from '../draft.ts';
import type { PolicyDescription } from '../use-description.ts';
import styles from './expression-field.module.css';

const CodeEditor = lazy(() => import('./code-editor.tsx'));

const PATH_BEFORE = /(?:[A-Za-z_]\w*\.)+$/;

export interface ExpressionFieldProps {
  readonly expression: Expression;
  readonly label: string;
  readonly hint: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What the service says about it, and whether that is about this very text. */
  readonly description: PolicyDescription | undefined;
  readonly isCurrent: boolean;
  readonly hasLines?: boolean;
}

/** An expression of a policy: editor, and under it what is wrong, with where and what may be meant. */
export function ExpressionField(props: ExpressionFieldProps) {
  const { expression, label, hint, placeholder, value, onChange, description, isCurrent, hasLines = false } = props;
  const id = useId();
  const errors = (description?.errors ?? []).filter((error) => error.expression === expression);
  const said = useMemo(() => {
    if (description === undefined || !isCurrent) return undefined;
    const mine = <Item extends { readonly expression?: string }>(items: readonly Item[]): readonly Item[] =>
      items.filter((item) => item.expression === expression);
    return {
      // What cannot be read has no names; those of before stay where they were.
      marks: mine(description.errors).length > 0 ? undefined : mine(description.marks),
      findings: [
        ...mine(description.errors).map(({ start, end, message }) => ({
          start,
          end,
          message,
          severity: 'error' as const,
        })),
        ...mine(description.warnings).flatMap(({ start, end, message }) =>
          start === undefined || end === undefined ? [] : [{ start, end, message, severity: 'warning' as const }],
        ),
      ],
    };
  }, [description, isCurrent, expression]);
  return (
    <div className={styles.field}>
      <span id={`${id}-label`} className={styles.label}>
        {label}
        <span className={styles.hint}> {hint}</span>
      </span>
      <div className={cx(styles.box, hasLines && styles.tall, errors.length > 0 && styles.invalid)}>
        <Suspense fallback={<pre className={styles.before}>{value}</pre>}>
          <CodeEditor
            value={value}
            onChange={onChange}
            kind={expression}
            labelledBy={`${id}-label`}
            describedBy={`${id}-errors ${id}-help`}
            isInvalid={errors.length > 0}
            hasLines={hasLines}
            placeholder={placeholder}
            said={said}
          />
        </Suspense>
      </div>
      <Hidden id={`${id}-help`}>
        Suggestions open while you type. Tab or Enter takes one, Escape closes them. Tab then leaves the editor.
      </Hidden>
      <ul id={`${id}-errors`} className={styles.errors} aria-live="polite">
        {errors.map((error) => (
          <li key={`${error.start} ${error.code}`} className={styles.error}>
            <Icon name="cross-circle" />
            <ErrorText error={error} value={value} onChange={isCurrent ? onChange : undefined} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ErrorTextProps {
  readonly error: PolicyDescription['errors'][number];
  readonly value: string;
  /** Undefined while the error is about an earlier text. */
  readonly onChange: ((value: string) => void) | undefined;
}

/** Where, what, and what may be meant: a click puts it there. */
function ErrorText({ error: { code, message, start, end, suggestion }, value, onChange }: ErrorTextProps) {
  // The mistake is one name; people know it by its whole path.
  const path = PATH_BEFORE.exec(value.slice(0, start))?.[0] ?? '';
  const wrong = `${path}${value.slice(start, end)}`;
  const { line, column } = lineAndColumn(value, start - path.length);
  const meant = suggestion === undefined ? undefined : `${path}${suggestion}`;
  return (
    <span>
      {`Line ${line}, column ${column}: `}
      {code === 'E_UNKNOWN_FIELD' && meant !== undefined ? (
        <>
          <b>
            <bdi>{wrong}</bdi>
          </b>{' '}
          is no field.
        </>
      ) : (
        <bdi>{/[.?]$/.test(message) ? message : `${message}.`}</bdi>
      )}
      {meant !== undefined && (
        <>
          {' Did you mean '}
          {onChange === undefined ? (
            meant
          ) : (
            <LinkButton
              className={styles.suggestion}
              onClick={() => onChange(`${value.slice(0, start)}${suggestion}${value.slice(end)}`)}
            >
              {meant}
            </LinkButton>
          )}
          {'?'}
        </>
      )}
    </span>
  );
}
