<?php
// WordPress, loaded as for a page of the blog: arguments are the site's folder and its URL.
$_SERVER['HTTP_HOST']       = parse_url( $argv[2], PHP_URL_HOST ) . ':' . parse_url( $argv[2], PHP_URL_PORT );
$_SERVER['REQUEST_URI']     = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD']  = 'GET';
require $argv[1] . '/wp-load.php';
