// SPDX-License-Identifier: Apache-2.0
// Keeps a served page up to date. When the server reports a change, fetches the page again and
// replaces its sections. Sorting, filter and selection stay.
"use strict";

(function () {
  var status = document.getElementById("live");
  var events = null;
  var busy = false, again = false;
  var tryAgainMs = 5000;

  function say(text, isFault) {
    // Let screen readers announce faults, but not the time of each update.
    status.setAttribute("aria-live", isFault ? "polite" : "off");
    status.textContent = text;
    status.classList.toggle("fault", Boolean(isFault));
  }

  function show(page) {
    // The server sent another kind of page, for example because a study has become too large for
    // its page.
    if (!page.getElementById("trials") !== !document.getElementById("trials")) {
      location.reload();
      return;
    }
    var at = window.scrollY;
    var before = null;
    Array.prototype.forEach.call(page.querySelectorAll("header, main > section"), function (fresh) {
      var shown = fresh.id ? document.getElementById(fresh.id) : document.querySelector("header");
      if (!shown) shown = before.parentNode.insertBefore(document.importNode(fresh, true), before.nextSibling);
      else if (!shown.querySelector("#trials")) shown.innerHTML = fresh.innerHTML;
      before = shown;
    });
    status = document.getElementById("live");
    document.title = page.title;
    if (page.getElementById("trials")) steptune.refresh(page);
    window.scrollTo(0, at);
  }

  // Refreshes the page. Runs one refresh at a time, then pauses for as long as the refresh took,
  // even if the study changes more often.
  function refresh() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    var begun = Date.now(), leastMs = 1000;
    fetch(location.pathname, {credentials: "same-origin", cache: "no-store"}).then(function (answer) {
      if (answer.status === 401) throw new Error("open the address that the server has printed last");
      if (!answer.ok) throw new Error("the server answered " + answer.status);
      return answer.text();
    }).then(function (text) {
      show(new DOMParser().parseFromString(text, "text/html"));
      say("live, as of " + new Date().toLocaleTimeString());
    }).catch(function (error) {
      say("not up to date: " + error.message, true);
      // The server reports a change only once, so try again.
      again = true;
      leastMs = tryAgainMs;
    }).then(function () {
      setTimeout(function () {
        busy = false;
        // A page in the background does not listen. When it is shown again, the server reports all
        // changes since the page was loaded.
        if (again && events) {
          again = false;
          refresh();
        }
      }, Math.max(leastMs, Date.now() - begun));
    });
  }

  function listen() {
    say("connecting");
    events = new EventSource(document.body.getAttribute("data-events"));
    events.addEventListener("open", function () { say("live"); });
    events.addEventListener("changed", refresh);
    events.addEventListener("fault", function (event) { say("not up to date: " + event.data, true); });
    events.addEventListener("error", function () {
      say(events.readyState === EventSource.CLOSED ?
          "no live updates: the server was started anew and has printed another address, or too many pages are open" :
          "connection lost; trying again", true);
    });
  }

  // A page that only shows an error gets no updates, so do not listen.
  if (!document.body.getAttribute("data-events")) return;

  // A browser opens at most six connections to a host for all its tabs together, so a hidden tab
  // closes its connection.
  document.addEventListener("visibilitychange", function () {
    if (document.hidden && events) {
      events.close();
      events = null;
    } else if (!document.hidden && !events) {
      listen();
    }
  });

  if (!document.hidden) listen();
})();
