// SPDX-License-Identifier: Apache-2.0
// Sorts and filters the table of trials, and keeps the trial selected in table and charts.
"use strict";

var steptune = (function () {
  var onSelect = [];
  var onRefresh = [];
  var selected = null;
  // The reader's sort order: {title, index among equal titles, ascending}.
  var order = null;
  var input = document.getElementById("filter");

  function rows(table) {
    return Array.prototype.slice.call(table.tBodies[0].rows);
  }

  // Returns the sort key of a row: the cell's number if it has one, otherwise its text. Empty cells
  // come last in both directions.
  function key(row, column) {
    var cell = row.cells[column];
    var number = cell.hasAttribute("data-v") ? +cell.getAttribute("data-v") : parseFloat(cell.textContent);
    return {empty: cell.textContent === "" || cell.textContent === "-", number: number, text: cell.textContent};
  }

  function compare(a, b, sign) {
    if (a.empty !== b.empty) return a.empty ? 1 : -1;
    if (!isNaN(a.number) && !isNaN(b.number)) return sign * (a.number - b.number);
    return sign * a.text.localeCompare(b.text);
  }

  function sort(table) {
    var head = Array.prototype.slice.call(table.tHead.rows[0].cells);
    var column = head.indexOf(head.filter(function (cell) { return order && cell.textContent === order.title; })[order && order.nth]);
    if (column < 0) return;
    head.forEach(function (cell) { cell.removeAttribute("aria-sort"); });
    head[column].setAttribute("aria-sort", order.ascending ? "ascending" : "descending");
    var keyed = rows(table).map(function (row, i) { return {row: row, key: key(row, column), i: i}; });
    keyed.sort(function (a, b) { return compare(a.key, b.key, order.ascending ? 1 : -1) || a.i - b.i; });
    keyed.forEach(function (entry) { table.tBodies[0].appendChild(entry.row); });
  }

  // True if the row contains every word. A word `name=value` must equal the cell of the column
  // `name`.
  function matches(row, words, titles) {
    return words.every(function (word) {
      var at = word.indexOf("=");
      var column = at > 0 ? titles.indexOf(word.slice(0, at)) : -1;
      if (column >= 0) return row.cells[column].textContent.toLowerCase() === word.slice(at + 1);
      return row.textContent.toLowerCase().indexOf(word) >= 0;
    });
  }

  function filter(table) {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    var titles = Array.prototype.map.call(table.tHead.rows[0].cells,
        function (cell) { return cell.textContent.toLowerCase(); });
    var shown = 0;
    rows(table).forEach(function (row) {
      row.hidden = !matches(row, words, titles);
      shown += row.hidden ? 0 : 1;
    });
    document.getElementById("count").textContent = shown + " of " + table.tBodies[0].rows.length + " trials.";
  }

  function markSelected(table) {
    rows(table).forEach(function (row) {
      row.classList.toggle("selected", +row.getAttribute("data-trial") === selected);
    });
  }

  // Selects the trial with this number in all tables and charts.
  function select(number, scroll) {
    selected = number;
    markSelected(document.getElementById("trials"));
    onSelect.forEach(function (listener) { listener(number); });
    if (scroll) document.getElementById("trace").scrollIntoView({behavior: "smooth", block: "nearest"});
  }

  function start(table) {
    var seen = {};
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) {
      var title = cell.textContent, nth = seen["=" + title] || 0;
      seen["=" + title] = nth + 1;
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = title;
      cell.textContent = "";
      cell.appendChild(button);
      button.addEventListener("click", function () {
        var again = order && order.title === title && order.nth === nth;
        order = {title: title, nth: nth, ascending: !again || !order.ascending};
        sort(table);
      });
    });
    rows(table).forEach(function (row) {
      row.tabIndex = 0;
      var choose = function () { select(+row.getAttribute("data-trial"), true); };
      row.addEventListener("click", choose);
      row.addEventListener("keydown", function (event) { if (event.key === "Enter") choose(); });
    });
    sort(table);
    filter(table);
    markSelected(table);
    Array.prototype.forEach.call(document.querySelectorAll(".controls"), function (e) { e.hidden = false; });
  }

  // Shows a new version of this page: the table of trials in the reader's order and filter, its
  // notes, then the charts.
  function refresh(page) {
    var table = document.getElementById("trials");
    table.innerHTML = page.getElementById("trials").innerHTML;
    document.getElementById("table-notes").innerHTML = page.getElementById("table-notes").innerHTML;
    document.getElementById("data").textContent = page.getElementById("data").textContent;
    start(table);
    onRefresh.forEach(function (listener) { listener(); });
  }

  start(document.getElementById("trials"));
  input.addEventListener("input", function () { filter(document.getElementById("trials")); });
  return {select: select, selected: function () { return selected; }, refresh: refresh,
          onSelect: function (listener) { onSelect.push(listener); },
          onRefresh: function (listener) { onRefresh.push(listener); }};
})();
