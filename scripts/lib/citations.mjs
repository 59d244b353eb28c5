// Finds the citations and links of the repository that lead nowhere. CONTRIBUTING.md says how to cite.
import path from 'node:path';

/** Families of citations whose pages are not in the repository. */
export const RETIRED_FAMILIES = ['AUTH', 'RES', 'POL', 'EARN', 'spec', 'decision'];

/** The files that citations are looked for in. */
export const CITING_FILES = /(\.(md|sol|html|[cm]?[jt]sx?)|^\.ci\/[^.]+)$/;

/** A space, or the line break of a comment. */
const GAP = String.raw`(?: |\s*\n\s*(?:\/\/|\*|#)?\s*)`;
const NUMBER = String.raw`\d+(?:\.\d+)*`;

const PROTOCOL = new RegExp(
  String.raw`(?<![\w/-])(?:docs\/)?protocol\/([a-z][a-z-]*)(?![\w./-]*\w)` +
    `(?:${GAP}(${NUMBER}(?:(?:,| and|, and)${GAP}${NUMBER})*))?`,
  'g',
);
const DECISION = /\bdecisions?[ /](0\d{3})(-[\w-]+)?/gi;
const DOCUMENT = /(?<![\w/.-])docs\/[\w./-]+\.md(?:#[\w-]+)?/g;
const LINK = /\]\(([^)\s]+)\)/g;

/**
 * @param {ReadonlyMap<string, string>} files text by path from the root of the repository
 * @param {ReadonlySet<string>} known every path of the repository, for links to files of other kinds and to folders
 * @returns {string[]} one line for each fault: file, line and what is wrong
 */
export function findBrokenCitations(files, known = new Set(files.keys())) {
  const pages = new Map(
    [...files].filter(([file]) => file.endsWith('.md')).map(([file, text]) => [file, readPage(text)]),
  );
  const retired = retiredPattern();
  const faults = [];
  for (const [file, text] of files) {
    const report = (index, fault) => faults.push(`${file}:${lineOf(text, index)}: ${fault}`);
    for (const match of text.matchAll(retired))
      report(match.index, `"${oneLine(match[0])}" cites a page that is not in the repository`);
    for (const match of text.matchAll(PROTOCOL)) checkProtocol(pages, match, report);
    for (const match of text.matchAll(DECISION)) checkDecision(pages, match, report);
    if (file.endsWith('.md')) {
      for (const { target, index } of pages.get(file).links)
        checkLink(pages, known, file, target, (fault) => report(index, fault));
    } else {
      for (const match of text.matchAll(DOCUMENT))
        checkLink(pages, known, '', match[0], (fault) => report(match.index, fault));
    }
    if (/^docs\/protocol\/(?!README)[^/]+\.md$/.test(file)) checkNumbers(pages.get(file), report);
  }
  return faults;
}

function checkProtocol(pages, match, report) {
  const [, name, numbers] = match;
  const page = pages.get(`docs/protocol/${name}.md`);
  if (page === undefined) return report(match.index, `docs/protocol/${name}.md does not exist`);
  if (numbers === undefined) return report(match.index, `"${match[0]}" needs the number of a section`);
  for (const number of numbers.match(new RegExp(NUMBER, 'g'))) {
    if (!page.numbers.has(number)) report(match.index, `docs/protocol/${name}.md has no section ${number}`);
  }
}

function checkDecision(pages, match, report) {
  const [, number, name] = match;
  const start = `docs/decisions/${number}-`;
  const page = [...pages.keys()].find((file) => file.startsWith(start));
  if (page === undefined) return report(match.index, `docs/decisions has no page ${number}`);
  if (name !== undefined && page !== `docs/decisions/${number}${name}.md`) {
    report(match.index, `page ${number} is ${page}`);
  }
}

function checkLink(pages, known, from, link, report) {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return;
  const [relative, anchor] = link.split('#', 2);
  const target =
    relative === '' ? from : path.posix.join(path.posix.dirname(from), decodeURI(relative)).replace(/\/$/, '');
  if (!known.has(target)) return report(`${target} does not exist`);
  const page = pages.get(target);
  if (anchor !== undefined && page !== undefined && !page.anchors.has(anchor))
    report(`${target} has no heading #${anchor}`);
}

/** Every heading of a protocol page has a number of its own, as deep as the heading is. */
function checkNumbers(page, report) {
  const seen = new Set();
  for (const { title, level, index } of page.headings) {
    if (level === 1) continue;
    const number = numberOf(title);
    if (number?.split('.').length !== level - 1) report(index, `"${title}" needs a number with ${level - 1} part(s)`);
    else if (seen.has(number)) report(index, `section ${number} is there twice`);
    seen.add(number);
  }
}

function readPage(text) {
  // Samples are neither headings nor links; blanks keep every place where it was.
  const prose = text
    .replace(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1[^\S\n]*$/gm, blank)
    .replace(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, blank);
  const headings = [...prose.matchAll(/^(#{1,6}) .*$/gm)].map(({ 0: line, 1: marks, index }) => ({
    title: text.slice(index + marks.length + 1, index + line.length).trim(),
    level: marks.length,
    index,
  }));
  const anchors = new Set();
  for (const { title } of headings) anchors.add(freeAnchor(anchors, anchorOf(title)));
  return {
    headings,
    anchors,
    numbers: new Set(headings.map(({ title }) => numberOf(title))),
    links: [...prose.matchAll(LINK)].map(({ 1: target, index }) => ({ target, index })),
  };
}

/** The anchor that common renderers of Markdown give a heading. */
function anchorOf(title) {
  return title
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

function freeAnchor(taken, anchor) {
  if (!taken.has(anchor)) return anchor;
  let count = 1;
  while (taken.has(`${anchor}-${count}`)) count++;
  return `${anchor}-${count}`;
}

function retiredPattern() {
  const names = RETIRED_FAMILIES.map((name) => `[${name[0]}${name[0].toUpperCase()}]${name.slice(1)}`);
  // Decision pages of the repository have four digits.
  return new RegExp(String.raw`\b(?:${names.join('|')})s?${GAP}(?!0\d{3}\b)${NUMBER}`, 'g');
}

const numberOf = (title) => title.match(new RegExp(`^(${NUMBER}) `))?.[1];
const lineOf = (text, index) => text.slice(0, index).split('\n').length;
const blank = (sample) => sample.replace(/[^\n]/g, ' ');
const oneLine = (text) => text.replace(/\s+/g, ' ');
