// This script makes pages more convenient. Every page also works without it.

/** Completes the last term of a query with suggestions from the service. Uses a WAI-ARIA combobox. */
function completeQueries(input) {
  const list = document.createElement('ul');
  list.id = `${input.id}-options`;
  list.className = 'query__options';
  list.role = 'listbox';
  list.ariaLabel = 'Completions';
  list.hidden = true;
  input.after(list);
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-controls', list.id);
  input.setAttribute('aria-expanded', 'false');
  let chosen = -1;
  let asked = 0;
  let timer = 0;

  const termIn = (text) => /(?:[^\s()"]|"[^"]*"?)*$/u.exec(text)?.[0] ?? '';
  // Completes only fields, types, metadata keys and containers. All other values stay in the form.
  const mayComplete = (term) => term !== '' && (!term.includes(':') || /^(?:type|container):/i.test(term));

  function show(suggestions) {
    chosen = -1;
    list.replaceChildren(
      ...suggestions.map(({ text, kind }, index) => {
        const option = document.createElement('li');
        option.id = `${list.id}-${index}`;
        option.role = 'option';
        option.dataset.text = text;
        const word = document.createElement('bdi');
        word.textContent = text;
        const label = document.createElement('span');
        label.textContent = kind.replace('_', ' ');
        option.append(word, label);
        option.addEventListener('mousedown', (event) => {
          event.preventDefault();
          take(option);
        });
        return option;
      }),
    );
    list.hidden = suggestions.length === 0;
    input.setAttribute('aria-expanded', String(!list.hidden));
    input.removeAttribute('aria-activedescendant');
  }

  /** Ignores completions that arrive later. They would discard the person's choice, or open a closed list again. */
  function ignorePending() {
    clearTimeout(timer);
    asked += 1;
  }

  function close() {
    ignorePending();
    show([]);
  }

  function choose(index) {
    ignorePending();
    const options = [...list.children];
    chosen = (index + options.length) % options.length;
    options.forEach((option, at) => {
      option.ariaSelected = String(at === chosen);
    });
    options[chosen].scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', options[chosen].id);
  }

  function take(option) {
    const end = input.selectionStart ?? input.value.length;
    const head = input.value.slice(0, end - termIn(input.value.slice(0, end)).length);
    input.value = head + option.dataset.text + input.value.slice(end);
    const caret = head.length + option.dataset.text.length;
    input.setSelectionRange(caret, caret);
    close();
    input.focus();
    if (option.dataset.text.endsWith(':')) ask();
  }

  async function ask() {
    asked += 1;
    const mine = asked;
    const term = termIn(input.value.slice(0, input.selectionStart ?? input.value.length));
    if (!mayComplete(term)) return show([]);
    const csrf = input.form?.elements._csrf.value ?? '';
    const answer = await fetch(input.dataset.complete, {
      method: 'POST',
      body: new URLSearchParams({ _csrf: csrf, prefix: term.slice(0, 210) }),
    }).catch(() => null);
    const suggestions = answer?.ok && !answer.redirected ? (await answer.json()).suggestions : [];
    if (mine === asked) show(suggestions);
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (list.hidden) return;
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else if (event.key === 'ArrowUp') choose(Math.max(chosen, 0) - 1);
    else if (event.key === 'Escape') close();
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen >= 0) take(list.children[chosen]);
    else return;
    event.preventDefault();
  });
}

/** Hides a plaintext value when its time is up, or when the person leaves the page. */
function hideInTime(notice) {
  // The history entry of this page is the submitted form. The entry becomes the masked page, so the back button and a
  // reload do not offer to send the form again, which would reveal the value a second time.
  history.replaceState(null, '', notice.dataset.hidePath);
  const left = notice.querySelector('[data-hide-left]');
  const endsAt = Date.now() + Number(notice.dataset.hideAfter) * 1000;
  const removeValues = () => {
    for (const value of document.querySelectorAll('[data-secret]')) value.remove();
  };
  function tick() {
    const seconds = Math.max(0, Math.ceil((endsAt - Date.now()) / 1000));
    // Each change of the page makes a screen reader look at it again.
    if (left.textContent !== String(seconds)) left.textContent = String(seconds);
    if (seconds > 0) return;
    removeValues();
    clearInterval(timer);
    location.replace(notice.dataset.hidePath);
  }
  const timer = setInterval(tick, 250);
  addEventListener('pagehide', removeValues);
  document.addEventListener('visibilitychange', tick);
}

/**
 * Checks a form against the vault's rules while a person types. Shows errors only for fields that the person has used.
 */
function checkWhileTyping(form) {
  const used = new Set();
  let asked = 0;
  let timer = 0;

  function show(errors) {
    for (const place of form.querySelectorAll('[data-errors-of]')) {
      const field = place.dataset.errorsOf;
      const text = used.has(field) ? (errors[field] ?? '') : place.textContent;
      place.textContent = text;
      place.hidden = text === '';
      for (const input of form.querySelectorAll(`[name="${field}"], [data-field="${field}"]`)) {
        if (text === '') input.removeAttribute('aria-invalid');
        else input.setAttribute('aria-invalid', 'true');
      }
    }
  }

  async function check() {
    asked += 1;
    const mine = asked;
    const answer = await fetch(form.dataset.check, {
      method: 'POST',
      body: new URLSearchParams(new FormData(form)),
    }).catch(() => null);
    if (mine !== asked || !answer?.ok || answer.redirected) return;
    show((await answer.json()).errors);
  }

  form.addEventListener('input', ({ target }) => {
    used.add(target.dataset.field ?? target.name);
    clearTimeout(timer);
    timer = setTimeout(check, 350);
  });
}

/** Reloads the page while work is running. Does not reload it while the person types or reads an open section. */
function reloadWhileUnused() {
  const isChanged = (field) =>
    field.type === 'checkbox' ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  const isInUse = () =>
    document.querySelector('details[open], :is(input, textarea, select):focus') !== null ||
    [...document.querySelectorAll('input, textarea')].some(isChanged);
  setInterval(() => {
    if (!isInUse()) location.reload();
  }, 2000);
}

/**
 * Sends a form only once if a person clicks a button twice. The browser shows only the second response, so a key or
 * secret in the first one would be lost. After a second, the button works again, because some forms download a file
 * and leave the page open.
 */
function ignoreDoubleClicks() {
  const sentAt = new WeakMap();
  addEventListener('submit', (event) => {
    if (event.defaultPrevented) return;
    const button = event.submitter ?? event.target;
    const isRepeated = event.timeStamp - (sentAt.get(button) ?? Number.NEGATIVE_INFINITY) < 1000;
    if (isRepeated) event.preventDefault();
    else sentAt.set(button, event.timeStamp);
  });
}

/**
 * Changes the theme on the page that is shown, so that the page keeps what a person typed, and a secret that is shown
 * only once.
 */
function changeThemeInPlace(form) {
  form.addEventListener('submit', (event) => {
    const { submitter } = event;
    if (submitter === null) return;
    event.preventDefault();
    document.documentElement.dataset.theme = submitter.value;
    for (const button of document.querySelectorAll('button[name="theme"]'))
      button.ariaPressed = String(button.value === submitter.value);
    const body = new URLSearchParams(new FormData(form, submitter));
    fetch(form.action, { method: 'POST', body, redirect: 'manual', keepalive: true }).catch(() => undefined);
  });
}

ignoreDoubleClicks();
for (const form of document.querySelectorAll('form[action="/theme"]')) changeThemeInPlace(form);
if (document.body.hasAttribute('data-reload')) reloadWhileUnused();
for (const notice of document.querySelectorAll('[data-hide-after]')) hideInTime(notice);
for (const form of document.querySelectorAll('[data-check]')) checkWhileTyping(form);
for (const input of document.querySelectorAll('[data-complete]')) completeQueries(input);

// A browser may keep a page that a person leaves, and restore it when the person goes back. Such a page is reloaded.
// Threat: the session has ended or a token has been deleted, but the restored page still shows its data. In addition, a
// page that showed a value or a new secret would still announce it, although the page removed it when the person left.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

/**
 * Guards a secret that the page shows only once, and offers to copy it. Browsers provide the clipboard only over TLS and
 * on loopback. Threat: another person at the same browser uses the back button, and the browser shows the secret from
 * its copy of the page.
 */
function showOnce(shown) {
  // The history entry of this page is the submitted form. The entry becomes another page, so the back button and a
  // reload do not offer to send the form again.
  history.replaceState(null, '', shown.dataset.oncePath);
  const secret = shown.querySelector('pre');
  addEventListener('pagehide', () => secret.replaceChildren());
  if (navigator.clipboard === undefined) return;
  const button = shown.querySelector('button');
  button.hidden = false;
  button.addEventListener('click', async () => {
    const isCopied = await navigator.clipboard.writeText(secret.textContent).then(
      () => true,
      () => false,
    );
    button.nextElementSibling.textContent = isCopied ? 'Copied' : 'The browser did not allow it. Select the text.';
  });
}

for (const shown of document.querySelectorAll('[data-once-path]')) showOnce(shown);
