/**
 * The script for the reference page. It adds a search field, and buttons that copy code. The page is complete without
 * the script. The script neither loads nor sends anything.
 */
export const script = `'use strict';
const form = document.querySelector('#search-form');
const field = document.querySelector('#search');
const found = document.querySelector('#found');
const sections = [...document.querySelectorAll('main section.operation')].map((section) => ({
  section,
  text: section.textContent.toLowerCase(),
  link: document.querySelector('nav li a[href="#' + section.id + '"]')?.parentElement,
}));
const groups = [...document.querySelectorAll('main .group, nav .group')];

function search() {
  const words = field.value.toLowerCase().split(' ').filter((word) => word !== '');
  let count = 0;
  for (const { section, text, link } of sections) {
    const isFound = words.every((word) => text.includes(word));
    section.hidden = !isFound;
    if (link) link.hidden = !isFound;
    if (isFound) count += 1;
  }
  for (const group of groups) group.hidden = group.querySelector('section:not([hidden]), li:not([hidden])') === null;
  found.textContent = words.length === 0 ? '' : count === 1 ? '1 match' : count + ' matches';
}

form.hidden = false;
field.addEventListener('input', search);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  sections.find(({ section }) => !section.hidden)?.section.scrollIntoView();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'search';
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === 'Escape' && isTyping) {
    field.value = '';
    search();
  }
});
// If the reader follows a link to a section that the search has hidden, the script clears the search.
window.addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target === null || target.closest('[hidden]') === null) return;
  field.value = '';
  search();
  target.scrollIntoView();
});

if (navigator.clipboard) {
  for (const block of document.querySelectorAll('main .code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector('code').textContent);
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not allowed';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
    block.append(button);
  }
}
`;
